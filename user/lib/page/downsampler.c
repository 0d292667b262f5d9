// SPDX-License-Identifier: BSD-2-Clause
#include "page/downsampler.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * When all buckets are full, pairs of them are merged, so that the memory of a report does not grow
 * with the run.
 */

/* The values of a column in a bucket; no weight if none was read. */
struct downsampler_sum {
	double least, most, weighted, weight;
};

int downsampler_init(struct downsampler *t, unsigned columns, size_t room)
{
	*t = (struct downsampler){ .columns = columns, .room = room, .each = 1 };
	t->times = memory_calloc(room, sizeof(*t->times));
	t->all = memory_calloc(room * columns, sizeof(*t->all));
	return t->times && t->all ? 0 : -ENOMEM;
}

void downsampler_done(struct downsampler *t)
{
	free(t->times);
	free(t->all);
	*t = (struct downsampler){ 0 };
}

static void sum_merge(struct downsampler_sum *to, const struct downsampler_sum *from)
{
	if (!from->weight)
		return;
	if (!to->weight || from->least < to->least)
		to->least = from->least;
	if (!to->weight || from->most > to->most)
		to->most = from->most;
	to->weighted += from->weighted;
	to->weight += from->weight;
}

static void buckets_merge_pairs(struct downsampler *t)
{
	const unsigned n = t->columns;

	for (size_t i = 0; i < t->nr / 2; i++) {
		struct downsampler_sum *to = t->all + i * n, *from = t->all + 2 * i * n;

		memmove(to, from, n * sizeof(*to));
		for (unsigned c = 0; c < n; c++)
			sum_merge(&to[c], &from[n + c]);
		t->times[i] = t->times[2 * i + 1];
	}
	t->nr /= 2;
	t->each *= 2;
	t->filled = t->each;
}

static void bucket_append(struct downsampler *t)
{
	if (t->nr == t->room)
		buckets_merge_pairs(t);
	memset(t->all + t->nr * t->columns, 0, t->columns * sizeof(*t->all));
	t->nr++;
	t->filled = 0;
}

void downsampler_add(struct downsampler *t, const struct downsampler_row *row, double weight)
{
	if (!t->nr || t->filled == t->each)
		bucket_append(t);
	for (unsigned c = 0; c < t->columns; c++) {
		const double v = row->value[c];

		if (!isnan(v))
			sum_merge(&t->all[(t->nr - 1) * t->columns + c],
				  &(struct downsampler_sum){ v, v, v * weight, weight });
	}
	t->times[t->nr - 1] = row->seconds;
	t->filled++;
	t->rows++;
}

/* The mean is exact if all values are the same, as of a bucket of one row. */
static double sum_mean(const struct downsampler_sum *s)
{
	return s->least == s->most ? s->least
				   : fmin(fmax(s->weighted / s->weight, s->least), s->most);
}

struct downsampler_bucket *downsampler_get(const struct downsampler *t, size_t *nr)
{
	struct downsampler_bucket *list = memory_calloc(t->nr + 1, sizeof(*list));

	*nr = list ? t->nr : 0;
	for (size_t i = 0; i < *nr; i++) {
		list[i].seconds = t->times[i];
		for (unsigned c = 0; c < t->columns; c++) {
			const struct downsampler_sum *s = &t->all[i * t->columns + c];

			list[i].value[BUCKET_MEAN][c] = s->weight ? sum_mean(s) : NAN;
			list[i].value[BUCKET_LEAST][c] = s->weight ? s->least : NAN;
			list[i].value[BUCKET_MOST][c] = s->weight ? s->most : NAN;
		}
	}
	return list;
}
