// SPDX-License-Identifier: BSD-2-Clause
#include "study/trend.h"

#include "base/memory.h"
#include "study/compare.h"
#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Number of random orders: takes less than a second, and suffices for a p of 0.005. */
#define MOST_ORDERS 9999
#define LEAST_ORDERS 199
#define SHUFFLED 10000000
#define SAME 1e-9 /* relative rounding error of sums in another order */
#define DEEPEST 4 /* depth of changes within changes */

/* A range of values, and of the places within it. */
struct stretch {
	size_t from, to, first, last;
};

struct search {
	const double *values;
	const size_t *places;
	double *ranks; /* of the values of the stretch */
	uint64_t seed; /* constant, so that the same runs always give the same result */
};

/* Draws a number by xorshift64* (Vigna 2016). @n must be far below 2^32. */
static size_t chance_below(uint64_t *seed, size_t n)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (size_t)(((*seed * 2685821657736338717ULL) >> 32) * n >> 32);
}

static void ranks_shuffle(double *ranks, size_t n, uint64_t *seed)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = chance_below(seed, i + 1);
		double kept = ranks[i];

		ranks[i] = ranks[other];
		ranks[other] = kept;
	}
}

/*
 * Returns the largest statistic over all places, up to a factor common to all orders, and its place
 * in *@at.
 */
static double cusum_largest(const struct search *s, const struct stretch *part, size_t *at)
{
	double n = (double)(part->to - part->from), mean = n + 1, sum = 0, largest = -1;
	size_t next = 0;

	for (size_t i = part->first; i < part->last; i++) {
		size_t before = s->places[i] - part->from;
		double t, k = (double)before;

		for (; next < before; next++)
			sum += s->ranks[next] - mean;
		t = fabs(sum) / sqrt(k * (n - k));
		if (t <= largest)
			continue;
		largest = t;
		*at = i;
	}
	return largest;
}

/* Returns the share of orders with at least that statistic. Stops early if it is not small. */
static double cusum_p(struct search *s, const struct stretch *part, double found)
{
	size_t n = part->to - part->from, orders = SHUFFLED / n, as_large = 0, tried = 0, at;

	orders = orders > MOST_ORDERS ? MOST_ORDERS : orders < LEAST_ORDERS ? LEAST_ORDERS : orders;
	while (tried < orders && (double)as_large <= 2 * ALPHA * (double)orders) {
		ranks_shuffle(s->ranks, n, &s->seed);
		as_large += cusum_largest(s, part, &at) >= found * (1 - SAME);
		tried++;
	}
	return (double)(as_large + 1) / (double)(tried + 1);
}

/* Returns whether a change at any place could be significant with so few values. */
static bool stretch_is_enough(const struct search *s, const struct stretch *part)
{
	for (size_t i = part->first; i < part->last; i++) {
		size_t before = s->places[i] - part->from, after = part->to - s->places[i];

		if (stats_rank_p_least(before, after) < ALPHA)
			return true;
	}
	return false;
}

/* Searches the left side before it adds the change, so that changes are in order. */
static int stretch_find(struct changes *c, struct search *s, struct stretch part, size_t left)
{
	double found, p;
	size_t at = 0;
	int err;

	if (!stretch_is_enough(s, &part) || !left)
		return 0;
	err = stats_ranks(s->values + part.from, part.to - part.from, s->ranks);
	if (err)
		return err;
	found = cusum_largest(s, &part, &at);
	p = cusum_p(s, &part, found);
	if (!c->is_enough)
		c->p = p;
	c->is_enough = true;
	if (p >= ALPHA)
		return 0;
	err = stretch_find(c, s, (struct stretch){ part.from, s->places[at], part.first, at },
			   left - 1);
	if (!err && c->nr < MOST_CHANGES)
		c->list[c->nr++] = (struct change){ at, p };
	if (err)
		return err;
	return stretch_find(c, s, (struct stretch){ s->places[at], part.to, at + 1, part.last },
			    left - 1);
}

int changes_find(struct changes *c, const double *values, size_t n, const size_t *places, size_t nr)
{
	struct search s = { .values = values,
			    .places = places,
			    .ranks = memory_calloc(n + 1, sizeof(*s.ranks)),
			    .seed = 88172645463325252ULL };
	int err = -ENOMEM;

	*c = (struct changes){ .p = 1 };
	if (s.ranks)
		err = stretch_find(c, &s, (struct stretch){ 0, n, 0, nr }, DEEPEST);
	free(s.ranks);
	return err;
}
