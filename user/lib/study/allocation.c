// SPDX-License-Identifier: BSD-2-Clause
#include "study/allocation.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 4096 /* peaks that are tried; of more runs these percentiles */

static int need_order(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	return (x->peak > y->peak) - (x->peak < y->peak);
}

int needs_open(struct needs *n, const struct need *all, size_t nr)
{
	*n = (struct needs){ .nr = nr };
	n->all = malloc(nr * sizeof(*n->all));
	n->times = malloc((nr + 1) * sizeof(*n->times));
	if (!n->all || !n->times) {
		needs_done(n);
		return -ENOMEM;
	}
	memcpy(n->all, all, nr * sizeof(*n->all));
	qsort(n->all, nr, sizeof(*n->all), need_order);
	n->times[0] = 0;
	for (size_t i = 0; i < nr; i++) {
		n->times[i + 1] = n->times[i] + n->all[i].time;
		n->used += n->all[i].peak * n->all[i].time;
	}
	return 0;
}

void needs_done(struct needs *n)
{
	free(n->all);
	free(n->times);
	*n = (struct needs){ 0 };
}

/* How many runs need no more than @request. */
static size_t needs_within(const struct needs *n, double request)
{
	size_t low = 0, high = n->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (n->all[middle].peak <= request)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The share of a node that one attempt takes. */
static double node_share(const struct node *node, double request)
{
	double slots = fmax(floor(node->capacity / request), 1);

	return 1 / (node->most > 0 ? fmin(slots, fmax(node->most, 1)) : slots);
}

struct allocation needs_try(const struct needs *n, double request, const struct node *node)
{
	const double first = node && request > node->capacity ? node->capacity : request;
	struct allocation a = { .request = first };
	size_t done = 0, within = needs_within(n, first);
	double now = first;

	if (!node || first < node->capacity)
		a.retried = (double)(n->nr - within) / (double)n->nr;
	/* each attempt is of all runs that have not come to their end */
	for (; done < n->nr; done = within, now *= 2) {
		const double time = n->times[n->nr] - n->times[done];

		if (node && now > node->capacity)
			now = node->capacity;
		within = needs_within(n, now);
		if (node && now >= node->capacity)
			within = n->nr; /* it gets all there is, and has once run with that */
		a.held += now * time;
		if (node)
			a.node_time += node_share(node, now) * time / (double)n->nr;
		if (within == n->nr)
			break;
	}
	a.used = n->used / a.held;
	return a;
}

static bool holds_less(const struct allocation *a, const struct allocation *b)
{
	return a->held < b->held;
}

static bool takes_less(const struct allocation *a, const struct allocation *b)
{
	return a->node_time < b->node_time || (!(a->node_time > b->node_time) && a->held < b->held);
}

/*
 * Between two requests with which other runs succeed, be it at a later attempt, the smaller one is
 * better: so the best one is a peak, or a half of one, or a quarter, ... One below all peaks is an
 * attempt for nothing before that with twice as much.
 */
static struct allocation needs_best(const struct needs *n, const struct node *node,
				    bool (*is_better)(const struct allocation *,
						      const struct allocation *))
{
	const size_t nr = n->nr < CANDIDATES ? n->nr : CANDIDATES;
	struct allocation best = needs_try(n, n->all[n->nr - 1].peak, node), one;

	for (size_t i = 1; i <= nr; i++) {
		double request = n->all[i * n->nr / nr - 1].peak;

		while (request >= n->all[0].peak) {
			one = needs_try(n, request, node);
			request /= 2;
			if (is_better(&one, &best))
				best = one;
		}
	}
	return best;
}

struct allocation needs_least_waste(const struct needs *n, const struct node *node)
{
	return needs_best(n, node, holds_less);
}

struct allocation needs_most_runs(const struct needs *n, const struct node *node)
{
	return needs_best(n, node, takes_less);
}
