// SPDX-License-Identifier: BSD-2-Clause
#include "study/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t bench_values(const struct group *g, const char *name, double *out)
{
	size_t key, nr = 0;

	if (compare_key_find(name, strlen(name), &key))
		return 0;
	for (size_t i = 0; i < g->nr; i++)
		if (!isnan(g->sides[i]->value[key]))
			out[nr++] = g->sides[i]->value[key];
	return nr;
}

int bench_measure(const struct group *g, const char *name, struct measure *m)
{
	double *v = calloc(g->nr + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	measure_make(m, v, bench_values(g, name, v));
	free(v);
	return 0;
}

/* The lowest median of the time. */
static int fastest_find(const struct groups *g, const char **name)
{
	double least = INFINITY;
	struct measure m;
	int err = 0;

	*name = g->nr ? g->list[0].name : NULL;
	for (size_t i = 0; !err && i < g->nr; i++) {
		err = bench_measure(&g->list[i], "wall_seconds", &m);
		if (!err && m.median < least) {
			least = m.median;
			*name = g->list[i].name;
		}
	}
	return err;
}

static int cases_find(struct bench_result *r)
{
	r->case_of = calloc(r->groups.nr + 1, sizeof(*r->case_of));
	if (!r->case_of)
		return -ENOMEM;
	for (size_t i = 0; i < r->groups.nr; i++) {
		size_t *of = &r->case_of[i];

		while (*of < r->plan->nr &&
		       strcmp(r->plan->cases[*of].label, r->groups.list[i].name) != 0)
			(*of)++;
		if (*of == r->plan->nr)
			return -ENOENT;
	}
	return 0;
}

/*
 * Which command is the fastest is found out from the same runs, so that the test against it is the
 * most telling one of all pairs: it is corrected for the number of these (Bonferroni), not for that
 * of the commands but one.
 */
static void against_correct(struct against *x, double pairs)
{
	if (!x->has_both || x->verdict == VERDICT_NONE)
		return;
	x->p_corrected = fmin(1, x->test.p * pairs);
	if (x->verdict == VERDICT_EQUAL)
		return;
	if (x->test.p_least * pairs >= ALPHA)
		x->verdict = VERDICT_TOO_FEW;
	else
		x->verdict = x->p_corrected < ALPHA ? VERDICT_DIFFERENT : VERDICT_NO_SIGN;
}

static void times_correct(struct bench_result *r)
{
	const double nr = (double)r->groups.nr;
	size_t key;

	if (compare_key_find("wall_seconds", strlen("wall_seconds"), &key))
		return;
	for (size_t g = 1; g < r->groups.nr; g++)
		against_correct(&r->comparison.againsts[g * NR_KEYS + key], nr * (nr - 1) / 2);
}

int bench_result_make(struct bench_result *r, const struct bench_plan *p, const struct sides *runs)
{
	const struct side *without;
	const char *fastest;
	int err;

	*r = (struct bench_result){ .plan = p, .runs = runs };
	err = groups_by_tag(&r->groups, runs, BENCH_CASE_TAG, &without);
	if (!err)
		err = fastest_find(&r->groups, &fastest);
	if (!err)
		err = groups_baseline(&r->groups, fastest);
	if (!err)
		err = groups_compare(&r->comparison, &r->groups);
	if (!err)
		times_correct(r);
	return err ? err : cases_find(r);
}

void bench_result_done(struct bench_result *r)
{
	comparison_done(&r->comparison);
	groups_done(&r->groups);
	free(r->case_of);
	*r = (struct bench_result){ 0 };
}

const struct group *bench_group(const struct bench_result *r, size_t of_case)
{
	for (size_t i = 0; i < r->groups.nr; i++)
		if (r->case_of[i] == of_case)
			return &r->groups.list[i];
	return NULL;
}
