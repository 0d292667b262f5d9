/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduces the rows of a chart but keeps all peaks. Of each bucket of consecutive rows it keeps the
 * first row, and those with the minimum and maximum of each column. Rows that are kept are
 * unchanged.
 */
#ifndef PAGE_DOWNSAMPLER_H
#define PAGE_DOWNSAMPLER_H

#include <stddef.h>
#include <stdint.h>

#define DOWNSAMPLER_COLUMNS 16 /* maximum; a bucket uses memory only for existing columns */

struct downsampler_row {
	double seconds;
	double value[DOWNSAMPLER_COLUMNS]; /* NAN if not read */
};

struct downsampler {
	unsigned columns;
	size_t room;                  /* number of buckets, even */
	uint64_t rows;                /* added so far */
	uint64_t each;                /* rows per bucket, a power of two */
	uint64_t filled;              /* rows in the last bucket */
	struct downsampler_row *held; /* owned; see bucket_at() */
	size_t nr;
};

/* Initializes @t. Up to @room rows are kept unchanged. Returns 0 or -ENOMEM. */
int downsampler_init(struct downsampler *t, unsigned columns, size_t room);
void downsampler_done(struct downsampler *t);
/* Adds a row. Rows must be added in the order of their time. */
void downsampler_add(struct downsampler *t, const struct downsampler_row *row);
/* Returns the @nr rows that are kept, in order. The caller frees them. NULL without memory. */
struct downsampler_row *downsampler_get_rows(const struct downsampler *t, size_t *nr);

#endif
