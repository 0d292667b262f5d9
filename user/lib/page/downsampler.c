// SPDX-License-Identifier: BSD-2-Clause
#include "page/downsampler.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * When all buckets are full, pairs of them are merged, so that the memory of a report does not grow
 * with the run.
 */

/* Rows per bucket: the first row, and per column those with the minimum and maximum. */
static size_t bucket_size(const struct downsampler *t)
{
	return 1 + 2 * (size_t)t->columns;
}

static struct downsampler_row *bucket_at(const struct downsampler *t, size_t i)
{
	return &t->held[i * bucket_size(t)];
}

/* Rows of a bucket with the minimum and maximum of column @c, if it was read. */
static struct downsampler_row *bucket_least(struct downsampler_row *bucket, unsigned c)
{
	return &bucket[1 + 2 * c];
}

static struct downsampler_row *bucket_most(struct downsampler_row *bucket, unsigned c)
{
	return &bucket[2 + 2 * c];
}

int downsampler_init(struct downsampler *t, unsigned columns, size_t room)
{
	*t = (struct downsampler){ .columns = columns, .room = room, .each = 1 };
	t->held = memory_calloc(room * bucket_size(t), sizeof(*t->held));
	return t->held ? 0 : -ENOMEM;
}

void downsampler_done(struct downsampler *t)
{
	free(t->held);
	*t = (struct downsampler){ 0 };
}

static bool is_held(const struct downsampler_row *held, unsigned c)
{
	return !isnan(held->value[c]);
}

static void row_copy(const struct downsampler *t, struct downsampler_row *to,
		     const struct downsampler_row *row)
{
	to->seconds = row->seconds;
	memcpy(to->value, row->value, t->columns * sizeof(*to->value));
}

static void bucket_start(const struct downsampler *t, struct downsampler_row *bucket,
			 const struct downsampler_row *row)
{
	for (size_t i = 0; i < bucket_size(t); i++)
		row_copy(t, &bucket[i], row);
}

/* Of equal values the earlier row is kept. */
static void row_keep_smallest(const struct downsampler *t, struct downsampler_row *held,
			      const struct downsampler_row *row, unsigned c)
{
	if (is_held(row, c) && (!is_held(held, c) || row->value[c] < held->value[c]))
		row_copy(t, held, row);
}

static void row_keep_largest(const struct downsampler *t, struct downsampler_row *held,
			     const struct downsampler_row *row, unsigned c)
{
	if (is_held(row, c) && (!is_held(held, c) || row->value[c] > held->value[c]))
		row_copy(t, held, row);
}

static void bucket_add(const struct downsampler *t, struct downsampler_row *bucket,
		       const struct downsampler_row *row)
{
	for (unsigned c = 0; c < t->columns; c++) {
		row_keep_smallest(t, bucket_least(bucket, c), row, c);
		row_keep_largest(t, bucket_most(bucket, c), row, c);
	}
}

static void buckets_merge_pairs(struct downsampler *t)
{
	for (size_t i = 0; i < t->nr / 2; i++) {
		struct downsampler_row *to = bucket_at(t, i), *later = bucket_at(t, 2 * i + 1);

		memmove(to, bucket_at(t, 2 * i), bucket_size(t) * sizeof(*to));
		for (unsigned c = 0; c < t->columns; c++) {
			row_keep_smallest(t, bucket_least(to, c), bucket_least(later, c), c);
			row_keep_largest(t, bucket_most(to, c), bucket_most(later, c), c);
		}
	}
	t->nr /= 2;
	t->each *= 2;
	t->filled = t->each;
}

void downsampler_add(struct downsampler *t, const struct downsampler_row *row)
{
	t->rows++;
	if (t->nr && t->filled < t->each) {
		bucket_add(t, bucket_at(t, t->nr - 1), row);
		t->filled++;
		return;
	}
	if (t->nr == t->room)
		buckets_merge_pairs(t);
	bucket_start(t, bucket_at(t, t->nr++), row);
	t->filled = 1;
}

static int row_compare_time(const void *a, const void *b)
{
	const struct downsampler_row *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Stores the distinct rows of a bucket in time order. Returns their number. */
static size_t bucket_rows(const struct downsampler *t, size_t i, struct downsampler_row *rows)
{
	size_t n = bucket_size(t), different = 1;

	memcpy(rows, bucket_at(t, i), n * sizeof(*rows));
	qsort(rows, n, sizeof(*rows), row_compare_time);
	for (size_t k = 1; k < n; k++)
		if (rows[k].seconds > rows[different - 1].seconds)
			rows[different++] = rows[k];
	return different;
}

struct downsampler_row *downsampler_get_rows(const struct downsampler *t, size_t *nr)
{
	struct downsampler_row *rows = memory_calloc(t->nr * bucket_size(t) + 1, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; rows && i < t->nr; i++)
		*nr += bucket_rows(t, i, rows + *nr);
	return rows;
}
