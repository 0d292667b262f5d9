// SPDX-License-Identifier: BSD-2-Clause
#include "report/thin.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define KEPT (1 + 2 * THIN_COLUMNS) /* the first row, and two of each column */

struct thin_bucket {
	struct thin_row first;
	struct thin_row smallest[THIN_COLUMNS]; /* of each column, where it was read */
	struct thin_row largest[THIN_COLUMNS];
};

int thin_init(struct thin *t, unsigned columns, size_t room)
{
	*t = (struct thin){ .columns = columns, .room = room, .each = 1 };
	t->buckets = calloc(room, sizeof(*t->buckets));
	return t->buckets ? 0 : -ENOMEM;
}

void thin_done(struct thin *t)
{
	free(t->buckets);
	*t = (struct thin){ 0 };
}

/* True if column @c was read in the row. */
static bool row_has_value(const struct thin_row *row, unsigned c)
{
	return !isnan(row->value[c]);
}

static void bucket_start(struct thin_bucket *b, unsigned columns, const struct thin_row *row)
{
	b->first = *row;
	for (unsigned c = 0; c < columns; c++)
		b->smallest[c] = b->largest[c] = *row;
}

/* Of two equal values the earlier is kept. */
static void row_keep_smallest(struct thin_row *held, const struct thin_row *row, unsigned c)
{
	if (row_has_value(row, c) && (!row_has_value(held, c) || row->value[c] < held->value[c]))
		*held = *row;
}

static void row_keep_largest(struct thin_row *held, const struct thin_row *row, unsigned c)
{
	if (row_has_value(row, c) && (!row_has_value(held, c) || row->value[c] > held->value[c]))
		*held = *row;
}

static void bucket_add(struct thin_bucket *b, unsigned columns, const struct thin_row *row)
{
	for (unsigned c = 0; c < columns; c++) {
		row_keep_smallest(&b->smallest[c], row, c);
		row_keep_largest(&b->largest[c], row, c);
	}
}

/* All buckets are full: makes half as many of them, of twice the rows. */
static void buckets_merge_pairs(struct thin *t)
{
	for (size_t i = 0; i < t->nr / 2; i++) {
		struct thin_bucket b = t->buckets[2 * i];
		const struct thin_bucket *later = &t->buckets[2 * i + 1];

		for (unsigned c = 0; c < t->columns; c++) {
			row_keep_smallest(&b.smallest[c], &later->smallest[c], c);
			row_keep_largest(&b.largest[c], &later->largest[c], c);
		}
		t->buckets[i] = b;
	}
	t->nr /= 2;
	t->each *= 2;
	t->filled = t->each;
}

void thin_add(struct thin *t, const struct thin_row *row)
{
	t->rows++;
	if (t->nr && t->filled < t->each) {
		bucket_add(&t->buckets[t->nr - 1], t->columns, row);
		t->filled++;
		return;
	}
	if (t->nr == t->room)
		buckets_merge_pairs(t);
	bucket_start(&t->buckets[t->nr++], t->columns, row);
	t->filled = 1;
}

static int row_compare_time(const void *a, const void *b)
{
	const struct thin_row *x = a, *y = b;

	return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* Puts the rows of one bucket into @rows, in order, each once; returns their number. */
static size_t bucket_rows(const struct thin_bucket *b, unsigned columns, struct thin_row *rows)
{
	size_t n = 0, different = 1;

	rows[n++] = b->first;
	for (unsigned c = 0; c < columns; c++) {
		rows[n++] = b->smallest[c];
		rows[n++] = b->largest[c];
	}
	qsort(rows, n, sizeof(*rows), row_compare_time);
	for (size_t i = 1; i < n; i++)
		if (rows[i].seconds > rows[different - 1].seconds)
			rows[different++] = rows[i];
	return different;
}

struct thin_row *thin_rows(const struct thin *t, size_t *nr)
{
	struct thin_row *rows = calloc(t->nr * KEPT + 1, sizeof(*rows));

	*nr = 0;
	for (size_t i = 0; rows && i < t->nr; i++)
		*nr += bucket_rows(&t->buckets[i], t->columns, rows + *nr);
	return rows;
}
