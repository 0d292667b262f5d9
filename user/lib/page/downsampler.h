/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reduces the rows of a chart to buckets of consecutive rows. A bucket has the mean, minimum and
 * maximum of each column, so that no peak is lost.
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

enum bucket_value { BUCKET_MEAN, BUCKET_LEAST, BUCKET_MOST, NR_BUCKET_VALUES };

/* Several rows. Values of a bucket of one row are those of the row; NAN if no row has a value. */
struct downsampler_bucket {
	double seconds; /* time of the last row */
	double value[NR_BUCKET_VALUES][DOWNSAMPLER_COLUMNS];
};

struct downsampler {
	unsigned columns;
	size_t room;                 /* number of buckets, even */
	uint64_t rows;               /* added so far */
	uint64_t each;               /* rows per bucket, a power of two */
	uint64_t filled;             /* rows in the last bucket */
	double *times;               /* owned; of the last row of each bucket */
	struct downsampler_sum *all; /* owned; @columns for each bucket */
	size_t nr;
};

/* Initializes @t. Up to @room rows are kept unchanged. Returns 0 or -ENOMEM. */
int downsampler_init(struct downsampler *t, unsigned columns, size_t room);
void downsampler_done(struct downsampler *t);
/*
 * Adds a row. Rows must be added in the order of their time. @weight is its share of a mean, such
 * as the time that it stands for; above 0.
 */
void downsampler_add(struct downsampler *t, const struct downsampler_row *row, double weight);
/* Returns the @nr buckets, in order. The caller frees them. NULL without memory. */
struct downsampler_bucket *downsampler_get(const struct downsampler *t, size_t *nr);

#endif
