// SPDX-License-Identifier: BSD-2-Clause
#include "study/unusual.h"

#include "study/run_groups.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_SHARE 0.1 /* of the median: less is no matter, however steady the others are */

/* Nor is less than this. */
static const double least_amount[NR_UNITS] = {
	[UNIT_NS] = 0.01,
	[UNIT_BYTES] = 1 << 20,
};

/* A group while it is judged. */
struct judged {
	const size_t *at; /* its runs */
	size_t nr, failed;
	struct robust usual[MOST_METRICS]; /* nr below LEAST_RUNS: too few have the value */
};

/* False: too few of its runs ended well. */
static bool group_measure(struct judged *g, struct unusual *u, double *scratch)
{
	for (size_t i = 0; i < g->nr; i++)
		g->failed += stored_run_is(&u->all->runs[g->at[i]], ONLY_FAILED);
	if (g->nr - g->failed < LEAST_RUNS)
		return false;
	for (size_t k = 0; k < u->values->metrics.nr; k++) {
		size_t n = 0;

		g->usual[k] = (struct robust){ 0 };
		for (size_t i = 0; i < g->nr; i++) {
			double value = many_value(u->values, k, g->at[i]);

			if (!isnan(value) && !stored_run_is(&u->all->runs[g->at[i]], ONLY_FAILED))
				scratch[n++] = value;
		}
		if (n >= LEAST_RUNS)
			robust_make(&g->usual[k], scratch, n);
		u->lacking[k] += n < LEAST_RUNS;
	}
	return true;
}

static bool value_is_off(const struct unusual *u, const struct robust *usual, size_t metric,
			 double value, double z)
{
	double distance = fabs(value - usual->median);
	enum metric_unit unit = compare_key(u->values->metrics.key[metric]).unit;

	return fabs(z) >= u->threshold && distance >= LEAST_SHARE * fabs(usual->median) &&
	       distance >= least_amount[unit];
}

static int off_farthest_first(const void *x, const void *y)
{
	double a = fabs(((const struct off_value *)x)->z);
	double b = fabs(((const struct off_value *)y)->z);

	return (a < b) - (a > b);
}

/* The values of the run that are off, into @off; returns how many. */
static size_t run_measure(const struct unusual *u, const struct judged *g, size_t at, bool failed,
			  struct off_value off[MOST_METRICS])
{
	size_t nr = 0;

	for (size_t k = 0; k < u->values->metrics.nr; k++) {
		double value = many_value(u->values, k, at), z;

		if (isnan(value) || g->usual[k].nr < LEAST_RUNS)
			continue;
		z = robust_z(&g->usual[k], value);
		if (value_is_off(u, &g->usual[k], k, value, z) && (z > 0 || !failed))
			off[nr++] = (struct off_value){ k, value, z, g->usual[k] };
	}
	qsort(off, nr, sizeof(*off), off_farthest_first);
	return nr;
}

static int unusual_append(struct unusual *u, const struct unusual_run *run)
{
	if (u->nr == u->room) {
		size_t room = u->room ? 2 * u->room : 64;
		struct unusual_run *list = reallocarray(u->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		u->list = list;
		u->room = room;
	}
	u->list[u->nr++] = *run;
	return 0;
}

static int run_judge(struct unusual *u, const struct judged *g, size_t at)
{
	bool failed = stored_run_is(&u->all->runs[at], ONLY_FAILED);
	struct off_value off[MOST_METRICS];
	struct unusual_run run = {
		.at = at,
		.has_failed = failed,
		.failure_is_unusual = failed && 2 * g->failed < g->nr,
		.group_runs = g->nr,
		.group_failed = g->failed,
		.nr_off = run_measure(u, g, at, failed, off),
	};
	int err;

	if (!run.nr_off && !run.failure_is_unusual)
		return 0;
	run.score =
		fmax(run.nr_off ? fabs(off[0].z) : 0, run.failure_is_unusual ? u->threshold : 0);
	run.off = calloc(run.nr_off + 1, sizeof(*run.off));
	if (!run.off)
		return -ENOMEM;
	for (size_t i = 0; i < run.nr_off; i++)
		run.off[i] = off[i];
	err = unusual_append(u, &run);
	if (err)
		free(run.off);
	return err;
}

static int group_judge(struct unusual *u, const size_t *at, size_t nr, double *scratch)
{
	struct judged g = { .at = at, .nr = nr };
	int err = 0;

	if (!group_measure(&g, u, scratch)) {
		u->few += nr;
		u->few_groups++;
		return 0;
	}
	u->judged += nr;
	u->groups++;
	for (size_t i = 0; !err && i < nr; i++)
		err = run_judge(u, &g, at[i]);
	return err;
}

static int unusual_order(const void *x, const void *y, void *context)
{
	const struct stored_runs *all = context;
	const struct unusual_run *a = x, *b = y;
	uint64_t began = all->runs[a->at].start_epoch_ns, other = all->runs[b->at].start_epoch_ns;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return (began < other) - (began > other);
}

int unusual_find(struct unusual *u, const struct many_values *v, const struct stored_runs *all,
		 double threshold)
{
	double *scratch = calloc(all->nr + 1, sizeof(*scratch));
	struct grouped_runs order;
	int err = grouped_runs_make(&order, all);

	*u = (struct unusual){ .values = v, .all = all, .threshold = threshold };
	if (!scratch)
		err = -ENOMEM;
	u->going_on = all->nr - order.nr;
	for (size_t i = 0, end; !err && i < order.nr; i = end) {
		end = grouped_runs_group_end(&order, all, i);
		err = group_judge(u, order.at + i, end - i, scratch);
	}
	if (!err && u->nr)
		qsort_r(u->list, u->nr, sizeof(*u->list), unusual_order, (void *)all);
	grouped_runs_done(&order);
	free(scratch);
	return err;
}

void unusual_done(struct unusual *u)
{
	for (size_t i = 0; i < u->nr; i++)
		free(u->list[i].off);
	free(u->list);
	*u = (struct unusual){ 0 };
}
