/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fewer rows for a chart, none of whose peaks is gone: of each bucket of consecutive rows those
 * stay that hold the least or the most of a column. All that stay are rows as they were, at their
 * time.
 */
#ifndef REPORT_THIN_H
#define REPORT_THIN_H

#include <stddef.h>
#include <stdint.h>

#define THIN_COLUMNS 16 /* at most; a bucket takes room for the columns that there are */

struct thin_row {
	double seconds;
	double value[THIN_COLUMNS]; /* NAN: not read */
};

struct thin {
	unsigned columns;
	size_t room;           /* buckets; even */
	uint64_t rows;         /* seen */
	uint64_t each;         /* rows a bucket takes: a power of two */
	uint64_t filled;       /* rows in the last bucket */
	struct thin_row *held; /* owned; see bucket_at() */
	size_t nr;
};

/* -ENOMEM. Up to @room rows stay as they are. @columns: up to THIN_COLUMNS. */
int thin_init(struct thin *t, unsigned columns, size_t room);
void thin_done(struct thin *t);
/* Rows come in the order of their time. */
void thin_add(struct thin *t, const struct thin_row *row);
/* What stays, in order: @nr rows, to be freed. NULL without memory. */
struct thin_row *thin_rows(const struct thin *t, size_t *nr);

#endif
