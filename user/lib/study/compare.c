// SPDX-License-Identifier: BSD-2-Clause
#include "study/compare.h"

#include "base/memory.h"
#include "study/unusual.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies the values of @key in @g to @v and sorts them. Returns their number. */
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

/* @groups is the number of tests, which share alpha. */
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
	double *p;             /* [group] */
};

/*
 * Judges a single value against several as list --unusual does: a rank test would need 40 of them.
 * Changes @values.
 */
static void single_judge(struct against *x, const struct spread *all, double *values, size_t n,
			 double value)
{
	struct robust usual;

	x->is_single = true;
	x->z = NAN;
	if (fmin(all->least, value) == fmax(all->most, value)) {
		x->verdict = VERDICT_EQUAL;
		x->z = 0;
	} else if (n < LEAST_RUNS) {
		x->verdict = VERDICT_TOO_FEW;
	} else {
		robust_make(&usual, values, n);
		x->z = robust_z(&usual, value);
		x->verdict = fabs(x->z) >= USUAL_DISTANCE && fabs(x->relative) >= LEAST_CHANGE
				     ? VERDICT_DIFFERENT
				     : VERDICT_NO_SIGN;
	}
}

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
	if (n > 1 && other->nr == 1) {
		single_judge(x, first, r->first, n, other->median);
	} else if (n > 1 || other->nr > 1) {
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
		.first = memory_calloc(g->most_sides, sizeof(double)),
		.other = memory_calloc(g->most_sides, sizeof(double)),
		.p = memory_calloc(g->nr, sizeof(double)),
	};
	int err = 0;

	*c = (struct comparison){
		.groups = g,
		.spreads = memory_calloc(g->nr * NR_KEYS, sizeof(*c->spreads)),
		.againsts = memory_calloc(g->nr * NR_KEYS, sizeof(*c->againsts)),
	};
	if (!r.first || !r.other || !r.p || !c->spreads || !c->againsts)
		err = -ENOMEM;
	for (size_t key = 0; !err && key < NR_KEYS; key++)
		if (run_key(key).name)
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

static struct group *groups_append(struct groups *g, const char *name, size_t room)
{
	struct group *one = &g->list[g->nr];

	*one = (struct group){ .name = name,
			       .sides = memory_calloc(room, sizeof(const struct side *)) };
	if (!one->sides)
		return NULL;
	g->nr++;
	return one;
}

static struct group *groups_find(struct groups *g, const char *name)
{
	for (size_t i = 0; i < g->nr; i++)
		if (!strcmp(g->list[i].name, name))
			return &g->list[i];
	return NULL;
}

static int groups_put(struct groups *g, struct group *one, const struct side *s)
{
	if (!one)
		return -ENOMEM;
	one->sides[one->nr++] = s;
	if (one->nr > g->most_sides)
		g->most_sides = one->nr;
	return 0;
}

int groups_each(struct groups *g, const struct sides *all)
{
	int err = 0;

	*g = (struct groups){ .list = memory_calloc(all->nr + 1, sizeof(*g->list)) };
	for (size_t i = 0; g->list && !err && i < all->nr; i++)
		err = groups_put(g, groups_append(g, all->list[i].name, 1), &all->list[i]);
	if (g->list && !err)
		groups_set_titles(g);
	return g->list ? err : -ENOMEM;
}

int groups_of_history(struct groups *g, const struct sides *all)
{
	const struct side *last = &all->list[all->nr - 1];
	struct group *earlier;
	int err = 0;

	*g = (struct groups){ .list = memory_calloc(3, sizeof(*g->list)), .is_history = true };
	if (!g->list)
		return -ENOMEM;
	earlier = groups_append(g, "earlier", all->nr);
	for (size_t i = 0; !err && i + 1 < all->nr; i++)
		err = groups_put(g, earlier, &all->list[i]);
	if (!err)
		err = groups_put(g, groups_append(g, last->name, 1), last);
	if (!err)
		groups_set_titles(g);
	return err;
}

int groups_by_tag(struct groups *g, const struct sides *all, const char *by,
		  const struct side **without)
{
	int err = 0;

	*g = (struct groups){ .list = memory_calloc(all->nr + 1, sizeof(*g->list)), .by = by };
	for (size_t i = 0; g->list && !err && i < all->nr; i++) {
		const struct side *s = &all->list[i];
		const char *value = side_tag(s, by);
		struct group *one = value ? groups_find(g, value) : NULL;

		*without = s;
		if (!value)
			return -ENOENT;
		err = groups_put(g, one ? one : groups_append(g, value, all->nr), s);
	}
	if (g->list && !err)
		groups_set_titles(g);
	return g->list ? err : -ENOMEM;
}

static bool group_name_is_number(const char *name, double *number)
{
	char *end;

	if (!*name || isspace((unsigned char)*name))
		return false;
	*number = strtod(name, &end);
	return !*end && isfinite(*number);
}

static int compare_group_names(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static int compare_group_numbers(const void *a, const void *b)
{
	double x = 0, y = 0;

	group_name_is_number(((const struct group *)a)->name, &x);
	group_name_is_number(((const struct group *)b)->name, &y);
	return x != y ? (x > y) - (x < y) : compare_group_names(a, b);
}

void groups_sort(struct groups *g, bool with_first)
{
	bool are_numbers = true;
	size_t from;
	double ignored;

	for (size_t i = 0; i < g->nr; i++)
		are_numbers &= group_name_is_number(g->list[i].name, &ignored);
	from = with_first && are_numbers ? 0 : 1;
	if (g->nr > from)
		qsort(g->list + from, g->nr - from, sizeof(*g->list),
		      are_numbers ? compare_group_numbers : compare_group_names);
}

int groups_baseline(struct groups *g, const char *name)
{
	struct group *found = groups_find(g, name), baseline;

	if (!found)
		return -ENOENT;
	baseline = *found;
	memmove(g->list + 1, g->list, (size_t)(found - g->list) * sizeof(*g->list));
	g->list[0] = baseline;
	return 0;
}

void groups_done(struct groups *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->list[i].sides);
	free(g->list);
	*g = (struct groups){ 0 };
}
