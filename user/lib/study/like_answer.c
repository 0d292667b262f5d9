// SPDX-License-Identifier: BSD-2-Clause
#include "study/like_answer.h"

#include "base/memory.h"
#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int known_add(struct known_runs *k, size_t of, const char *kind, const struct signature *g)
{
	if (k->nr == k->room) {
		size_t room = k->room ? k->room * 2 : 256;
		struct known_run *list = memory_reallocarray(k->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		k->list = list;
		k->room = room;
	}
	k->list[k->nr++] = (struct known_run){ .of = of, .kind = kind, .signature = *g };
	return 0;
}

static int known_order(const void *x, const void *y)
{
	const struct known_run *a = x, *b = y;
	int c = strcmp(a->kind, b->kind);

	return c ? c : (a->of > b->of) - (a->of < b->of);
}

void known_sort(struct known_runs *k)
{
	if (k->nr)
		qsort(k->list, k->nr, sizeof(*k->list), known_order);
	k->nr_kinds = 0;
	for (size_t i = 0; i < k->nr; i++) {
		if (i && strcmp(k->list[i].kind, k->list[i - 1].kind) != 0)
			k->nr_kinds++;
		k->list[i].nr_kind = k->nr_kinds;
	}
	k->nr_kinds += k->nr > 0;
}

/* Returns the end of the kind that begins at @from. */
static size_t known_kind_end(const struct known_runs *k, size_t from)
{
	size_t end = from;

	while (end < k->nr && k->list[end].nr_kind == k->list[from].nr_kind)
		end++;
	return end;
}

void known_done(struct known_runs *k)
{
	free(k->list);
	*k = (struct known_runs){ 0 };
}

#define MAD_SIGMAS 1.4826 /* standard deviation of a normal distribution in MADs */
#define RUNS_OF_A_SCALE 5000
#define LEAST_OF_A_KIND 3 /* runs for a median */
#define LEAST_KINDS 2
#define MOST_WEIGHT 3. /* limit of a dimension's weight, and reciprocal of the smallest */
#define PROGRAMS_WEIGHT 8.f

/* Buffers: all values, and differences from the median of their kind. */
struct spread {
	double *values, *all, *within;
	size_t nr_all, nr_within, nr_kinds;
};

/* Sorts the values and returns the median. */
static double median_take(double *v, size_t nr)
{
	stats_sort(v, nr);
	return stats_quantile(v, nr, 0.5);
}

static double mad_take(double *v, size_t nr)
{
	double middle = median_take(v, nr);

	for (size_t i = 0; i < nr; i++)
		v[i] = fabs(v[i] - middle);
	return MAD_SIGMAS * median_take(v, nr);
}

/*
 * Adds every @step-th run of the kind from @from to @end: its value, and its difference from their
 * median.
 */
static void spread_add_kind(struct spread *s, const struct known_runs *k, size_t from, size_t end,
			    size_t step, int dimension)
{
	size_t nr = 0;
	double middle;

	for (size_t i = from; i < end; i += step)
		if (k->list[i].signature.has[dimension])
			s->values[nr++] = k->list[i].signature.milli[dimension];
	memcpy(&s->all[s->nr_all], s->values, nr * sizeof(*s->values));
	s->nr_all += nr;
	if (nr < LEAST_OF_A_KIND)
		return;
	middle = median_take(s->values, nr);
	for (size_t i = 0; i < nr; i++)
		s->within[s->nr_within++] = fabs(s->values[i] - middle);
	s->nr_kinds++;
}

/*
 * Sets the scale of a dimension. Returns the ratio of the spread of all runs to that within kinds;
 * 0 if unknown.
 */
static double dimension_scale(struct spread *s, const struct known_runs *k, int d, float *scale)
{
	const double least = 1e3 * signature_dimension((enum signature_dimension)d)->least;
	size_t step = k->nr / RUNS_OF_A_SCALE + 1;
	double mad;

	s->nr_all = s->nr_within = s->nr_kinds = 0;
	for (size_t from = 0, end; from < k->nr; from = end) {
		end = known_kind_end(k, from);
		spread_add_kind(s, k, from, end, step, d);
	}
	mad = s->nr_all ? mad_take(s->all, s->nr_all) : 0;
	*scale = (float)fmax(mad, least);
	if (s->nr_kinds < LEAST_KINDS)
		return 0;
	mad = MAD_SIGMAS * median_take(s->within, s->nr_within);
	return *scale / fmax(mad, least / 4);
}

/* Sets the weights so that the median dimension keeps the weight of signature.def. */
static void weights_set(struct like_scale *s, const double *ratio)
{
	double known[NR_SIGNATURE_DIMENSIONS], middle;
	size_t nr = 0;

	for (int d = 0; d < NR_SIGNATURE_DIMENSIONS; d++)
		if (ratio[d] > 0)
			known[nr++] = ratio[d];
	middle = nr ? median_take(known, nr) : 1;
	for (int d = 0; d < NR_SIGNATURE_DIMENSIONS; d++) {
		double more = ratio[d] > 0 ? ratio[d] / middle : 1;

		more = fmin(fmax(more, 1 / MOST_WEIGHT), MOST_WEIGHT);
		s->weight[d] =
			(float)(more * signature_dimension((enum signature_dimension)d)->weight);
	}
}

int like_scale_make(struct like_scale *s, const struct known_runs *k, bool has_programs)
{
	/* rounding may add one run for each kind */
	size_t room = k->nr < RUNS_OF_A_SCALE ? k->nr + 1 : RUNS_OF_A_SCALE + k->nr_kinds + 1;
	double *memory = memory_calloc(3 * room, sizeof(*memory)), ratio[NR_SIGNATURE_DIMENSIONS];
	struct spread spread;

	if (!memory)
		return -ENOMEM;
	spread = (struct spread){ memory, memory + room, memory + 2 * room, 0, 0, 0 };
	for (int d = 0; d < NR_SIGNATURE_DIMENSIONS; d++)
		ratio[d] = dimension_scale(&spread, k, d, &s->scale[d]);
	weights_set(s, ratio);
	s->programs = has_programs ? PROGRAMS_WEIGHT : 0;
	free(memory);
	return 0;
}

int32_t like_program_share(const struct signature *g, const char *name)
{
	for (size_t i = 0; i < g->nr_programs; i++)
		if (!memcmp(g->program[i].name, name, SIGNATURE_NAME_BYTES))
			return g->program[i].milli;
	return 0;
}

double like_programs_distance(const struct signature *a, const struct signature *b)
{
	int64_t of_both = 0, sum = 0;

	for (size_t i = 0; i < a->nr_programs; i++) {
		int32_t other = like_program_share(b, a->program[i].name);

		of_both += a->program[i].milli < other ? a->program[i].milli : other;
		sum += a->program[i].milli;
	}
	for (size_t i = 0; i < b->nr_programs; i++)
		sum += b->program[i].milli;
	return 1 - (double)of_both / (double)(sum - of_both);
}

double like_distance(const struct like_scale *s, const struct signature *a,
		     const struct signature *b)
{
	float sum = 0, weights = 0;

	for (int d = 0; d < NR_SIGNATURE_DIMENSIONS; d++) {
		float apart;

		if (!a->has[d] || !b->has[d])
			continue;
		apart = fabsf((float)a->milli[d] - (float)b->milli[d]) / s->scale[d];
		sum += s->weight[d] * fminf(apart, (float)LARGEST_DIFFERENCE);
		weights += s->weight[d];
	}
	if (s->programs > 0 && a->nr_programs && b->nr_programs) {
		sum += s->programs * (float)(LARGEST_DIFFERENCE * like_programs_distance(a, b));
		weights += s->programs;
	}
	return weights > 0 ? (double)(sum / weights) : (double)INFINITY;
}

#define RUNS_OF_A_THRESHOLD 300 /* runs over all kinds that are compared with their kind */
#define LEAST_OF_EACH 2         /* at least so many of each kind */
#define RUNS_OF_A_KIND 1000     /* others of its kind that each is compared with */
#define MOST_DISTANCES 3000
#define TIE 1e-3 /* added to distances, so that smaller ones count about the same */

static bool neighbour_is_before(const struct known_runs *known, const struct neighbour *a,
				const struct neighbour *b)
{
	bool a_is_same = known->list[a->at].is_same, b_is_same = known->list[b->at].is_same;

	return a_is_same != b_is_same ? a_is_same : a->distance < b->distance;
}

/* Inserts a neighbour in order, and keeps the first @k. */
static void neighbour_add(struct like_answer *a, const struct known_runs *known, size_t k,
			  const struct neighbour *n)
{
	size_t i;

	if (!isfinite(n->distance))
		return;
	if (!a->nr || n->distance < a->nearest.distance)
		a->nearest = *n;
	if (a->nr == k && !neighbour_is_before(known, n, &a->list[k - 1]))
		return;
	if (a->nr < k)
		a->nr++;
	for (i = a->nr - 1; i && neighbour_is_before(known, n, &a->list[i - 1]); i--)
		a->list[i] = a->list[i - 1];
	a->list[i] = *n;
}

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

/*
 * Returns the distance of the run @at to the nearest of @others others of its kind; infinity if it
 * has none.
 */
static double nearest_of_kind(const struct like_scale *s, const struct known_runs *known,
			      struct kind_range kind, size_t at, size_t others)
{
	size_t count = kind.nr - 1 < others ? kind.nr - 1 : others;
	size_t step = count ? (kind.nr - 1) / count : 1;
	double nearest = INFINITY;

	for (size_t n = 0; n < count; n++) { /* evenly spaced, in a circle from the next one on */
		size_t j = kind.from + (at - kind.from + 1 + n * step) % kind.nr;

		nearest = fmin(nearest, like_distance(s, &known->list[at].signature,
						      &known->list[j].signature));
	}
	return nearest;
}

/*
 * Collects distances from the kinds with at least half of @nr_kind runs: of the same number of runs
 * in each, to the same number of others of its kind. So neither the number of kinds has an
 * influence, nor that of their runs: those of a large kind are near each other for that reason.
 * Returns the number of distances.
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
	double *distances = memory_calloc(MOST_DISTANCES, sizeof(*distances));
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

/*
 * Chooses the kind with the largest sum of votes; among equal ones, the nearest. Returns the index
 * of one of its runs.
 */
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
	for (size_t i = 0; k && i < known->nr; i++) {
		struct neighbour n = { i, like_distance(s, &known->list[i].signature, g) };

		neighbour_add(a, known, k, &n);
	}
	for (size_t i = 0; i < a->nr; i++)
		a->nr_same += known->list[a->list[i].at].is_same;
	at = kind_choose(a, known);
	err = threshold_make(a, s, known, a->nr ? kind_find(known, at).nr : 0);
	a->is_near = a->nr && a->has_threshold && a->nearest.distance <= a->threshold;
	return err;
}
