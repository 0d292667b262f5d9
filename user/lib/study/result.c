// SPDX-License-Identifier: BSD-2-Clause
#include "study/result.h"

#include "base/memory.h"
#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Copies the values of the key @name to @out, in the order of the runs; @out has room for g->nr.
 * Returns their number.
 */
static size_t bench_values(const struct group *g, const char *name, double *out)
{
	size_t key, nr = 0;

	if (run_key_find(name, strlen(name), &key))
		return 0;
	for (size_t i = 0; i < g->nr; i++)
		if (!isnan(g->sides[i]->value[key]))
			out[nr++] = g->sides[i]->value[key];
	return nr;
}

int bench_measure(const struct group *g, const char *name, struct measure *m)
{
	double *v = memory_calloc(g->nr + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	measure_make(m, v, bench_values(g, name, v));
	free(v);
	return 0;
}

int bench_times_of(const struct group *g, struct bench_times *t)
{
	int err = bench_measure(g, "wall_seconds", &t->wall);

	if (!err)
		err = bench_measure(g, "user_seconds", &t->user);
	return err ? err : bench_measure(g, "system_seconds", &t->system);
}

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
	r->case_of = memory_calloc(r->groups.nr + 1, sizeof(*r->case_of));
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
 * The same runs determine which case is the fastest, so a test against it is the most extreme of
 * all pairs. Corrects p for the number of pairs (Bonferroni), not of the other cases.
 */
static void against_correct(struct against *x, double pairs)
{
	if (!x->has_both || x->verdict == VERDICT_NONE || x->is_single)
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

	if (run_key_find("wall_seconds", strlen("wall_seconds"), &key))
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

#define TAIL 0.025      /* on each side of the interval */
#define TAIL_Z 1.959964 /* quantile of the normal distribution for it */

void measure_make(struct measure *m, double *v, size_t nr)
{
	double sum = 0, squares = 0;

	*m = (struct measure){ nr, NAN, NAN, NAN, NAN, NAN };
	if (!nr)
		return;
	stats_sort(v, nr);
	for (size_t i = 0; i < nr; i++)
		sum += v[i];
	m->mean = sum / (double)nr;
	for (size_t i = 0; i < nr; i++)
		squares += (v[i] - m->mean) * (v[i] - m->mean);
	if (nr > 1)
		m->sd = sqrt(squares / (double)(nr - 1));
	m->median = stats_quantile(v, nr, 0.5);
	m->least = v[0];
	m->most = v[nr - 1];
}

/*
 * Counts the arrangements with U = 0, 1, ...: the coefficients of the product of (1 - q^(na + i)) /
 * (1 - q^i) over i from 1 to nb.
 */
static double *arrangements_count(size_t na, size_t nb)
{
	const size_t room = na * nb + 1;
	double *ways = memory_calloc(room, sizeof(*ways));

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (size_t i = 1; i <= nb; i++) {
		for (size_t u = room; u-- > na + i;)
			ways[u] -= ways[u - na - i];
		for (size_t u = i; u < room; u++)
			ways[u] += ways[u - i];
	}
	return ways;
}

/*
 * Sets *@k to the largest k with P(U < k) below the tail; 0 if there is none. Returns 0 or -ENOMEM.
 */
static int exact_place(size_t na, size_t nb, size_t *k)
{
	double *ways = arrangements_count(na, nb), all = 0, below = 0;

	if (!ways)
		return -ENOMEM;
	for (size_t u = 0; u <= na * nb; u++)
		all += ways[u];
	for (*k = 0; *k < na * nb; (*k)++) {
		below += ways[*k];
		if (below / all >= TAIL)
			break;
	}
	free(ways);
	return 0;
}

static size_t normal_place(double na, double nb)
{
	double at = na * nb / 2 + 0.5 - TAIL_Z * sqrt(na * nb * (na + nb + 1) / 12);

	return at >= 1 ? (size_t)at : 0;
}

int ratio_estimate(const double *a, size_t na, const double *b, size_t nb, struct ratio *r)
{
	const size_t nr = na * nb;
	double *all = memory_calloc(nr + 1, sizeof(*all));
	size_t k = 0;
	int err = all ? 0 : -ENOMEM;

	*r = (struct ratio){ .estimate = NAN };
	for (size_t i = 0; !err && i < nr; i++)
		all[i] = b[i % nb] / a[i / nb];
	if (!err && na + nb <= RANK_TEST_EXACT)
		err = exact_place(na, nb, &k);
	else if (!err)
		k = normal_place((double)na, (double)nb);
	if (!err && nr) {
		stats_sort(all, nr);
		/* the geometric mean of two middle values, as for logarithms */
		r->estimate = sqrt(all[(nr - 1) / 2] * all[nr / 2]);
		r->has_interval = k > 0;
	}
	if (!err && r->has_interval) {
		r->low = all[k - 1];
		r->high = all[nr - k];
	}
	free(all);
	return err;
}

int bench_ratio(const struct bench_result *r, size_t group, struct ratio *out)
{
	const struct group *first = &r->groups.list[0], *other = &r->groups.list[group];
	double *a = memory_calloc(first->nr + 1, sizeof(*a)),
	       *b = memory_calloc(other->nr + 1, sizeof(*b));
	int err = a && b ? 0 : -ENOMEM;
	size_t na, nb;

	*out = (struct ratio){ .estimate = NAN };
	if (!err) {
		na = bench_values(first, "wall_seconds", a);
		nb = bench_values(other, "wall_seconds", b);
		err = ratio_estimate(a, na, b, nb, out);
	}
	free(a);
	free(b);
	return err;
}

static int wall_write(struct jsonw *j, const struct group *g)
{
	struct bench_times t;
	int err = bench_times_of(g, &t);

	if (err)
		return err;
	jsonw_double(j, "mean", t.wall.mean);
	jsonw_double(j, "stddev", t.wall.sd); /* null for one run, as hyperfine has it */
	jsonw_double(j, "median", t.wall.median);
	jsonw_double(j, "user", t.user.mean);
	jsonw_double(j, "system", t.system.mean);
	jsonw_double(j, "min", t.wall.least);
	jsonw_double(j, "max", t.wall.most);
	return 0;
}

static void times_write(struct jsonw *j, const char *as, const struct group *g, const char *key,
			bool are_whole, double *room)
{
	size_t nr = bench_values(g, key, room);

	if (are_whole && nr < g->nr)
		return; /* omitted unless known for each run */
	jsonw_array(j, as);
	for (size_t i = 0; i < nr; i++)
		if (are_whole)
			jsonw_uint(j, NULL, (uint64_t)room[i]);
		else
			jsonw_double(j, NULL, room[i]);
	jsonw_array_end(j);
}

/* Writes null for a run that was killed by a signal. */
static void exit_codes_write(struct jsonw *j, const struct group *g)
{
	size_t code, sig;

	if (run_key_find("exit_code", 9, &code) || run_key_find("signal", 6, &sig))
		return;
	jsonw_array(j, "exit_codes");
	for (size_t i = 0; i < g->nr; i++) {
		const struct side *s = g->sides[i];

		if (isnan(s->value[code]) || s->value[sig] > 0)
			jsonw_null(j, NULL);
		else
			jsonw_int(j, NULL, (int64_t)s->value[code]);
	}
	jsonw_array_end(j);
}

static void parameters_write(struct jsonw *j, const struct bench_plan *p,
			     const struct bench_case *c)
{
	if (!p->parameters.nr)
		return;
	jsonw_object(j, "parameters");
	for (size_t i = 0; i < p->parameters.nr; i++)
		jsonw_string(j, p->parameters.list[i].name, c->values[i]);
	jsonw_object_end(j);
}

static int case_write(struct jsonw *j, const struct bench_plan *p, const struct bench_case *c,
		      const struct group *g)
{
	double *room = memory_calloc(g->nr + 1, sizeof(*room));
	int err = room ? 0 : -ENOMEM;

	jsonw_object(j, NULL);
	jsonw_string(j, "command", c->command);
	if (!err)
		err = wall_write(j, g);
	if (!err) {
		times_write(j, "times", g, "wall_seconds", false, room);
		times_write(j, "memory_usage_byte", g, "process_rss_peak_bytes", true, room);
	}
	exit_codes_write(j, g);
	parameters_write(j, p, c);
	jsonw_object_end(j);
	free(room);
	return err;
}

int bench_write_hyperfine(struct jsonw *j, const struct bench_result *r)
{
	int err = 0;

	jsonw_object(j, NULL);
	jsonw_array(j, "results");
	for (size_t i = 0; !err && i < r->plan->nr; i++) {
		const struct group *g = bench_group(r, i);

		if (g)
			err = case_write(j, r->plan, &r->plan->cases[i], g);
	}
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
	return j->failed ? -ENOMEM : err;
}
