/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs taken out of a store, a portion a transaction. */
#ifndef STORE_REMOVE_H
#define STORE_REMOVE_H

#include "store/database.h"

/* Outside of a transaction; errors as database_open(), here and below. */
int remove_run(struct database *d, int64_t id);
/* Its row and the few others that describe it, within the caller's transaction: no list has it
 * from then on. The rest is left to remove_rows(). */
int remove_head(struct database *d, int64_t id);
int remove_rows(struct database *d, int64_t id);
/* Rows whose run is gone: of a removal that was ended halfway, or still goes on. */
int store_remove_left(struct database *d);
int count_left(struct database *d, int64_t *rows);

#endif
