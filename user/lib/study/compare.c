// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The values of @key in @g, sorted, into @v; returns how many. */
static size_t values_collect(const struct group *g, size_t key, double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nr; i++)
		if (!isnan(g->sides[i]->value[key]))
			v[n++] = g->sides[i]->value[key];
	stats_sort(v, n);
	return n;
}

static struct spread spread_measure(const double *v, size_t n)
{
	if (!n)
		return (struct spread){ 0 };
	return (struct spread){
		.nr = n,
		.median = stats_quantile(v, n, 0.5),
		.q1 = stats_quantile(v, n, 0.25),
		.q3 = stats_quantile(v, n, 0.75),
		.least = v[0],
		.most = v[n - 1],
	};
}

static double against_relative(double difference, double base)
{
	if (difference == 0)
		return 0;
	return base == 0 ? copysign(INFINITY, difference) : difference / fabs(base);
}

/* @groups: those that are compared with the first, each of which takes its part of alpha. */
static enum verdict against_judge(const struct spread *a, const struct spread *b,
				  const struct against *x, size_t groups)
{
	if (fmin(a->least, b->least) == fmax(a->most, b->most))
		return VERDICT_EQUAL;
	if (x->test.p_least * (double)groups >= ALPHA)
		return VERDICT_TOO_FEW;
	return x->p_corrected < ALPHA ? VERDICT_DIFFERENT : VERDICT_NO_SIGN;
}

struct room {
	double *first, *other; /* values */
	double *p;             /* of each group */
};

static int pair_compare(struct comparison *c, size_t group, size_t key, struct room *r, size_t n)
{
	const struct group *g = &c->groups->list[group];
	const struct spread *first = spread_of(c, 0, key);
	struct spread *other = &c->spreads[group * NR_KEYS + key];
	struct against *x = &c->againsts[group * NR_KEYS + key];
	int err = 0;

	*other = spread_measure(r->other, values_collect(g, key, r->other));
	r->p[group] = NAN;
	if (!n || !other->nr)
		return 0;
	x->has_both = true;
	x->difference = other->median - first->median;
	x->relative = against_relative(x->difference, first->median);
	if (n > 1 || other->nr > 1) {
		err = stats_rank_test(r->first, n, r->other, other->nr, &x->test);
		r->p[group] = x->test.p;
	}
	return err;
}

static int groups_compare_key(struct comparison *c, size_t key, struct room *r)
{
	size_t n = values_collect(&c->groups->list[0], key, r->first), tests = 0;
	int err = 0;

	c->spreads[key] = spread_measure(r->first, n);
	r->p[0] = NAN;
	for (size_t g = 1; !err && g < c->groups->nr; g++) {
		err = pair_compare(c, g, key, r, n);
		tests += !isnan(r->p[g]);
	}
	if (!err)
		err = stats_holm(r->p, c->groups->nr);
	for (size_t g = 1; !err && g < c->groups->nr; g++) {
		struct against *x = &c->againsts[g * NR_KEYS + key];

		x->p_corrected = r->p[g];
		if (!isnan(r->p[g]))
			x->verdict =
				against_judge(&c->spreads[key], spread_of(c, g, key), x, tests);
	}
	return err;
}

int groups_compare(struct comparison *c, const struct groups *g)
{
	struct room r = {
		.first = calloc(g->most_sides, sizeof(double)),
		.other = calloc(g->most_sides, sizeof(double)),
		.p = calloc(g->nr, sizeof(double)),
	};
	int err = 0;

	*c = (struct comparison){
		.groups = g,
		.spreads = calloc(g->nr * NR_KEYS, sizeof(*c->spreads)),
		.againsts = calloc(g->nr * NR_KEYS, sizeof(*c->againsts)),
	};
	if (!r.first || !r.other || !r.p || !c->spreads || !c->againsts)
		err = -ENOMEM;
	for (size_t key = 0; !err && key < NR_KEYS; key++)
		if (compare_key(key).name)
			err = groups_compare_key(c, key, &r);
	free(r.first);
	free(r.other);
	free(r.p);
	return err;
}

void comparison_done(struct comparison *c)
{
	free(c->spreads);
	free(c->againsts);
	*c = (struct comparison){ 0 };
}

bool comparison_has(const struct comparison *c, size_t key)
{
	for (size_t g = 0; g < c->groups->nr; g++)
		if (spread_of(c, g, key)->nr)
			return true;
	return false;
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "",
		[VERDICT_EQUAL] = "equal",
		[VERDICT_TOO_FEW] = "too few runs to tell",
		[VERDICT_NO_SIGN] = "may be noise",
		[VERDICT_DIFFERENT] = "more than noise",
	};

	return names[v];
}
