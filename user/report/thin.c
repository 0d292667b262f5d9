// SPDX-License-Identifier: BSD-2-Clause
#include "report/thin.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How many rows a bucket holds: the first, and of each column the one with the least and the most.
 */
static size_t bucket_size(const struct thin *t)
{
	return 1 + 2 * (size_t)t->columns;
}

static struct thin_row *bucket_at(const struct thin *t, size_t i)
{
	return &t->held[i * bucket_size(t)];
}

/* The rows of a bucket where column @c is the least and the most, if it was read. */
static struct thin_row *bucket_least(struct thin_row *bucket, unsigned c)
{
	return &bucket[1 + 2 * c];
}

static struct thin_row *bucket_most(struct thin_row *bucket, unsigned c)
{
	return &bucket[2 + 2 * c];
}

int thin_init(struct thin *t, unsigned columns, size_t room)
{
	*t = (struct thin){ .columns = columns, .room = room, .each = 1 };
	t->held = calloc(room * bucket_size(t), sizeof(*t->held));
	return t->held ? 0 : -ENOMEM;
}

void thin_done(struct thin *t)
{
	free(t->held);
	*t = (struct thin){ 0 };
}

/* Whether there is a row in @held, for column @c. */
static bool is_held(const struct thin_row *held, unsigned c)
{
	return !isnan(held->value[c]);
}

/* Only the columns that there are. */
static void row_copy(const struct thin *t, struct thin_row *to, const struct thin_row *row)
{
	to->seconds = row->seconds;
	memcpy(to->value, row->value, t->columns * sizeof(*to->value));
}

static void bucket_start(const struct thin *t, struct thin_row *bucket, const struct thin_row *row)
{
	for (size_t i = 0; i < bucket_size(t); i++)
		row_copy(t, &bucket[i], row);
}

/* Where two are the same, the earlier stays. */
static void row_keep_smallest(const struct thin *t, struct thin_row *held, const struct thin_row *row,
		       unsigned c)
{
	if (is_held(row, c) && (!is_held(held, c) || row->value[c] < held->value[c]))
		row_copy(t, held, row);
}

static void row_keep_largest(const struct thin *t, struct thin_row *held, const struct thin_row *row,
		      unsigned c)
{
	if (is_held(row, c) && (!is_held(held, c) || row->value[c] > held->value[c]))
		row_copy(t, held, row);
}

static void bucket_add(const struct thin *t, struct thin_row *bucket, const struct thin_row *row)
{
	for (unsigned c = 0; c < t->columns; c++) {
		row_keep_smallest(t, bucket_least(bucket, c), row, c);
		row_keep_largest(t, bucket_most(bucket, c), row, c);
	}
}

/* All buckets are full: half as many, of twice the rows. */
static void buckets_merge_pairs(struct thin *t)
{
	for (size_t i = 0; i < t->nr / 2; i++) {
		struct thin_row *to = bucket_at(t, i), *later = bucket_at(t, 2 * i + 1);

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

void thin_add(struct thin *t, const struct thin_row *row)
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
	const struct thin_row *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The rows of one bucket, in order, each once; how many. */
static size_t bucket_rows(const struct thin *t, size_t i, struct thin_row *rows)
{
	size_t n = bucket_size(t), different = 1;

	memcpy(rows, bucket_at(t, i), n * sizeof(*rows));
	qsort(rows, n, sizeof(*rows), row_compare_time);
	for (size_t k = 1; k < n; k++)
		if (rows[k].seconds > rows[different - 1].seconds)
			rows[different++] = rows[k];
	return different;
}

struct thin_row *thin_rows(const struct thin *t, size_t *nr)
{
	struct thin_row *rows = calloc(t->nr * bucket_size(t) + 1, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; rows && i < t->nr; i++)
		*nr += bucket_rows(t, i, rows + *nr);
	return rows;
}
