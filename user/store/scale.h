/* SPDX-License-Identifier: BSD-2-Clause */
/* About how many bytes of the file each run takes. */
#ifndef STORE_SCALE_H
#define STORE_SCALE_H

#include "store/tables.h"

#define SCALE_TABLES 9

/* By table, as run_table_at() counts them. */
struct scale {
	double row_bytes[SCALE_TABLES];
};

/* Reads what a row takes on average: all pages. Errors as database_open(), here and below. */
int scale_read(struct database *d, struct scale *s);
int scale_weigh(struct database *d, const struct scale *s, int64_t run, int64_t *bytes);

#endif
