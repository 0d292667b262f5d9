/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fewer rows for a chart, none of whose peaks is gone: of each bucket of consecutive rows those
 * stay that hold the least or the most of a column. All that stay are rows as they were, at their
 * time.
 */
#ifndef PAGE_DOWNSAMPLER_H
#define PAGE_DOWNSAMPLER_H

#include <stddef.h>
#include <stdint.h>

#define DOWNSAMPLER_COLUMNS 16 /* at most; a bucket takes room for the columns that there are */

struct downsampler_row {
	double seconds;
	double value[DOWNSAMPLER_COLUMNS]; /* NAN: not read */
};

struct downsampler {
	unsigned columns;
	size_t room;                  /* buckets; even */
	uint64_t rows;                /* seen */
	uint64_t each;                /* rows a bucket takes: a power of two */
	uint64_t filled;              /* rows in the last bucket */
	struct downsampler_row *held; /* owned; see bucket_at() */
	size_t nr;
};

/* -ENOMEM. Up to @room rows stay as they are. @columns: up to DOWNSAMPLER_COLUMNS. */
int downsampler_init(struct downsampler *t, unsigned columns, size_t room);
void downsampler_done(struct downsampler *t);
/* Rows come in the order of their time. */
void downsampler_add(struct downsampler *t, const struct downsampler_row *row);
/* What stays, in order: @nr rows, to be freed. NULL without memory. */
struct downsampler_row *downsampler_get_rows(const struct downsampler *t, size_t *nr);

#endif
