// SPDX-License-Identifier: BSD-2-Clause
#include "study/like_answer.h"

#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define RUNS_OF_A_THRESHOLD 300 /* of all kinds, whose nearest of their kind is looked for, */
#define LEAST_OF_EACH 2         /* of each kind, however many kinds there are, */
#define RUNS_OF_A_KIND 1000     /* among so many others */
#define MOST_DISTANCES 3000
#define TIE 1e-3 /* a distance of 0 counts for no more than this one */

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

/* The runs of one kind, and how many of them there are. */
struct kind_range {
	size_t from, nr;
};

static struct kind_range kind_find(const struct known_runs *known, size_t at)
{
	size_t from = at;

	while (from && known->list[from - 1].nr_kind == known->list[at].nr_kind)
		from--;
	return (struct kind_range){ from, known_kind_end(known, from) - from };
}

/* How far the run @at is from the nearest of @others others of its kind. Infinite: there is none.
 */
static double nearest_of_kind(const struct like_scale *s, const struct known_runs *known,
			      struct kind_range kind, size_t at, size_t others)
{
	size_t count = kind.nr - 1 < others ? kind.nr - 1 : others;
	size_t step = count ? (kind.nr - 1) / count : 1;
	double nearest = INFINITY;

	for (size_t n = 0; n < count; n++) { /* those that follow it, evenly, all the way around */
		size_t j = kind.from + (at - kind.from + 1 + n * step) % kind.nr;

		nearest = fmin(nearest, like_distance(s, &known->list[at].signature,
						      &known->list[j].signature));
	}
	return nearest;
}

/*
 * Of each kind that has about as many runs as the one that is asked about, or more: as many runs of
 * each, each with as many others of its kind. So neither a kind with many runs, which are near each
 * other for that, nor the number of kinds decides what is near for one with few.
 */
static size_t distances_within(const struct like_scale *s, const struct known_runs *known,
			       size_t nr_kind, size_t of_each, double *distances)
{
	size_t others = nr_kind < RUNS_OF_A_KIND ? nr_kind : RUNS_OF_A_KIND, nr = 0;
	struct kind_range kind;

	for (size_t from = 0; from < known->nr; from += kind.nr) {
		size_t count;

		kind = kind_find(known, from);
		count = kind.nr < of_each ? kind.nr : of_each;
		if (kind.nr < 2 || kind.nr < nr_kind / 2)
			continue;
		for (size_t n = 0; n < count && nr < MOST_DISTANCES; n++) {
			double d =
				nearest_of_kind(s, known, kind, from + n * kind.nr / count, others);

			if (isfinite(d))
				distances[nr++] = d;
		}
	}
	return nr;
}

static int threshold_make(struct like_answer *a, const struct like_scale *s,
			  const struct known_runs *known, size_t nr_kind)
{
	double *distances = calloc(MOST_DISTANCES, sizeof(*distances));
	size_t of_each = known->nr_kinds ? RUNS_OF_A_THRESHOLD / known->nr_kinds : 0, nr;

	if (!distances)
		return -ENOMEM;
	nr = distances_within(s, known, nr_kind, of_each > LEAST_OF_EACH ? of_each : LEAST_OF_EACH,
			      distances);
	if (nr) {
		stats_sort(distances, nr);
		a->threshold = stats_quantile(distances, nr, NEAR_SHARE);
	}
	a->has_threshold = nr > 0;
	a->nr_threshold = nr;
	free(distances);
	return 0;
}

/* The kind with the largest sum, of equal ones that of the nearest; returns one of its runs. */
static size_t kind_choose(struct like_answer *a, const struct known_runs *known)
{
	double most = 0;
	size_t at = 0;

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
		at = a->list[i].at;
	}
	return at;
}

int like_answer_make(struct like_answer *a, const struct like_scale *s,
		     const struct known_runs *known, const struct signature *g, size_t k)
{
	size_t at;
	int err;

	*a = (struct like_answer){ 0 };
	if (k > MAX_NEIGHBOURS)
		k = MAX_NEIGHBOURS;
	for (size_t i = 0; k && i < known->nr; i++)
		neighbour_add(a, k, i, like_distance(s, &known->list[i].signature, g));
	at = kind_choose(a, known);
	err = threshold_make(a, s, known, a->nr ? kind_find(known, at).nr : 0);
	a->is_near = a->nr && a->has_threshold && a->list[0].distance <= a->threshold;
	return err;
}
