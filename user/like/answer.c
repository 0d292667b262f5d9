// SPDX-License-Identifier: BSD-2-Clause
#include "like/answer.h"

#include "compare/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RUNS_OF_A_THRESHOLD 300 /* whose nearest of their kind is looked for, */
#define RUNS_OF_A_KIND 1000     /* among so many */
#define TIE 1e-3                /* a distance of 0 counts for no more than this one */

/* Keeps the list in order, up to @k. */
static void neighbour_add(struct like_answer *a, size_t k, size_t at, double distance)
{
	size_t i;

	if (!isfinite(distance) || (a->nr == k && distance >= a->list[k - 1].distance))
		return;
	if (a->nr < k)
		a->nr++;
	for (i = a->nr - 1; i && a->list[i - 1].distance > distance; i--)
		a->list[i] = a->list[i - 1];
	a->list[i] = (struct neighbour){ at, distance };
}

/* Infinite: there is none. */
static double nearest_of_kind(const struct like_scale *s, const struct known_runs *known, size_t i,
			      size_t from, size_t end)
{
	size_t step = (end - from) / RUNS_OF_A_KIND + 1;
	double nearest = INFINITY;

	for (size_t j = from; j < end; j += step)
		if (j != i)
			nearest = fmin(nearest, like_distance(s, &known->list[i].signature,
							      &known->list[j].signature));
	return nearest;
}

/* Runs evenly from all kinds that have two, each against the others of its kind. */
static size_t distances_within(const struct like_scale *s, const struct known_runs *known,
			       double *distances)
{
	size_t step = known->nr / RUNS_OF_A_THRESHOLD + 1, nr = 0, next = 0;

	for (size_t from = 0, end; from < known->nr; from = end) {
		end = known_kind_end(known, from);
		for (; next < end; next += step) {
			double d = nearest_of_kind(s, known, next, from, end);

			if (isfinite(d))
				distances[nr++] = d;
		}
	}
	return nr;
}

static int threshold_make(struct like_answer *a, const struct like_scale *s,
			  const struct known_runs *known)
{
	double *distances = calloc(RUNS_OF_A_THRESHOLD + 1, sizeof(*distances));
	size_t nr;

	if (!distances)
		return -ENOMEM;
	nr = distances_within(s, known, distances);
	if (nr) {
		stats_sort(distances, nr);
		a->threshold = stats_quantile(distances, nr, NEAR_SHARE);
	}
	a->has_threshold = nr > 0;
	a->nr_threshold = nr;
	free(distances);
	return 0;
}

/* The kind of the nearest one, of those with the largest sum. */
static void kind_choose(struct like_answer *a, const struct known_runs *known)
{
	double most = 0;

	for (size_t i = 0; i < a->nr; i++) {
		const struct known_run *run = &known->list[a->list[i].at];
		size_t agreeing = 0;
		double sum = 0;

		for (size_t j = 0; j < a->nr; j++) {
			if (known->list[a->list[j].at].nr_kind != run->nr_kind)
				continue;
			sum += 1 / (a->list[j].distance + TIE);
			agreeing++;
		}
		if (sum <= most)
			continue;
		most = sum;
		a->kind = run->kind;
		a->agreeing = agreeing;
	}
}

int like_answer_make(struct like_answer *a, const struct like_scale *s,
		     const struct known_runs *known, const struct signature *g, size_t k)
{
	int err;

	*a = (struct like_answer){ 0 };
	if (k > MAX_NEIGHBOURS)
		k = MAX_NEIGHBOURS;
	for (size_t i = 0; k && i < known->nr; i++)
		neighbour_add(a, k, i, like_distance(s, &known->list[i].signature, g));
	err = threshold_make(a, s, known);
	a->is_near = a->nr && a->has_threshold && a->list[0].distance <= a->threshold;
	kind_choose(a, known);
	return err;
}
