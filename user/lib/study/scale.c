// SPDX-License-Identifier: BSD-2-Clause
#include "study/scale.h"

#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAD_SIGMAS 1.4826 /* a normal distribution's standard deviation in MADs */
#define RUNS_OF_A_SCALE 5000
#define LEAST_OF_A_KIND 3 /* runs that have a median they differ from */
#define LEAST_KINDS 2
#define MOST_WEIGHT 3. /* of a dimension; the least is its reciprocal */
#define PROGRAMS_WEIGHT 8.f

/* Of all runs, and of each kind about its own median; room for as many as are looked at. */
struct spread {
	double *values, *all, *within;
	size_t nr_all, nr_within, nr_kinds;
};

/* Sorts them. */
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

/* Of the runs from @from up to @end each step-th; how they differ from their median. */
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

/* How much more runs of all kinds differ than those of one; 0: not known. */
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

/* The middle one of the dimensions keeps its weight. */
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
	/* of each kind one more than its share, at the most */
	size_t room = k->nr < RUNS_OF_A_SCALE ? k->nr + 1 : RUNS_OF_A_SCALE + k->nr_kinds + 1;
	double *memory = calloc(3 * room, sizeof(*memory)), ratio[NR_SIGNATURE_DIMENSIONS];
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
