// SPDX-License-Identifier: BSD-2-Clause
/*
 * Robust distances against published ones, and which runs are unusual. The median absolute
 * deviation of R: mad(c(1, 5, 2, 2, 8)) = 1.4826 with constant 1.4826, and chem of its package
 * MASS, where median and mad are 3.385 and 0.526323 (Venables and Ripley 2002, p. 123).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/unusual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define NEAR 1e-6
#define MANY 60

static struct robust of(const double *values, size_t n)
{
	double copy[1000];
	struct robust r;

	memcpy(copy, values, n * sizeof(*values));
	robust_make(&r, copy, n);
	return r;
}

static void the_scale_is_the_median_deviation(void **state)
{
	/* one outlier, and a lower tail that is as long as the upper one */
	static const double chem[] = { 2.90,  3.10, 3.40, 3.40, 3.70, 3.70, 2.80, 2.50,
				       2.40,  2.40, 2.70, 2.20, 5.28, 3.37, 3.03, 3.03,
				       28.95, 3.77, 3.40, 2.20, 3.50, 3.60, 3.70, 3.70 };
	struct robust r = of(chem, COUNT(chem));

	(void)state;
	assert_true(fabs(r.median - 3.385) < NEAR);
	assert_false(r.is_log);
	assert_true(fabs(r.scale - 0.526323) < 0.03); /* or the tails, which agree */
	assert_true(robust_z(&r, 28.95) > 40);
	assert_true(fabs(robust_z(&r, 3.03)) < 1);
	assert_true(robust_z(&r, r.median) == 0);
}

static void normal_values_have_their_standard_deviation(void **state)
{
	double values[999];
	struct robust r;

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) { /* quantiles, by bisection of erf */
		double p = (double)(i + 1) / 1000, low = -6, high = 6;

		while (high - low > 1e-12) {
			double middle = (low + high) / 2;

			*(erfc(-middle / M_SQRT2) / 2 < p ? &low : &high) = middle;
		}
		values[i] = 100 + 7 * low;
	}
	r = of(values, COUNT(values));
	assert_false(r.is_log);
	assert_true(fabs(r.median - 100) < NEAR && fabs(r.scale - 7) < 0.02);
	assert_true(fabs(robust_z(&r, 121) - 3) < 0.01);
	for (size_t i = 0; i < COUNT(values); i++)
		values[i] = exp((values[i] - 100) / 7);
	r = of(values, COUNT(values));
	assert_true(r.is_log);
	assert_true(fabs(r.scale - 1) < 0.01 && fabs(robust_z(&r, exp(3)) - 3) < 0.02);
}

static void what_every_tenth_run_has_is_not_far(void **state)
{
	double values[MANY];
	struct robust r;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		values[i] = (i % 5 ? 100 : 500) + (double)(i % 7);
	r = of(values, MANY);
	assert_true(robust_z(&r, 500) < 3.5);
	for (size_t i = 0; i < MANY; i++)
		values[i] = (i % 20 ? 100 : 500) + (double)(i % 7);
	r = of(values, MANY);
	assert_true(robust_z(&r, 500) > 10);
}

/* 88 % and 12 %: the tails decide, and it is the distance of normal values that they have. */
static void two_kinds_of_input_are_not_far(void **state)
{
	double values[1000], near = 0;
	struct robust r;

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++)
		values[i] = i < 880 ? 97 + (double)(i % 7) : 260 + (double)(i % 80);
	r = of(values, COUNT(values));
	for (size_t i = 0; i < COUNT(values); i++)
		near += fabs(robust_z(&r, values[i])) < 3.5;
	assert_true(near == COUNT(values));
	for (size_t i = 0; i < COUNT(values);
	     i++) /* tails of the normal distribution, one value between */
		values[i] = i < 150 ? 87.1845 : i < 850 ? 100 : 112.8155;
	r = of(values, COUNT(values));
	assert_false(r.is_log);
	assert_true(fabs(r.scale - 10) < 1e-3);
}

static void zeros_do_not_hide_magnitudes(void **state)
{
	double values[MANY];
	struct robust r;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		values[i] = i % 3 ? 1e6 * exp((double)(i % 11) / 5) : 0;
	r = of(values, MANY);
	assert_true(r.is_log && r.start > 1e6);
	assert_true(robust_z(&r, 0) > -3.5 && robust_z(&r, 0) < 0);
	assert_true(robust_z(&r, 1e9) > 5 && isfinite(robust_z(&r, 1e9)));
}

static void of_equal_values_any_other_is_far(void **state)
{
	static const double equal[] = { 3, 3, 3, 3, 3, 3, 3, 3 },
			    one[] = { 3, 3, 3, 3, 3, 3, 3, 9 };
	struct robust r = of(equal, COUNT(equal));

	(void)state;
	assert_true(robust_z(&r, 3) == 0);
	assert_true(isinf(robust_z(&r, 4)) && robust_z(&r, 2) < 0);
	r = of(one, COUNT(one));
	assert_true(robust_z(&r, 9) > 3.5);
}

static struct stored_run runs[MANY];
static char *const name = "align", *const other = "sort";

static void runs_make(struct stored_runs *all)
{
	*all = (struct stored_runs){ .runs = runs, .nr = MANY };
	for (size_t i = 0; i < MANY; i++)
		runs[i] = (struct stored_run){
			.id = (int64_t)i + 1,
			.name = i < 50 ? name : other,
			.start_epoch_ns = i,
			.state = RUN_FINISHED,
			.exit_code = 0,
			.signal = -1,
			.wall_ns = (int64_t)(100 + i % 10) * 1000000000,
			.cpu_ns = -1,
			.rss_peak_bytes = 1 << 28,
		};
}

static void find(struct unusual *u, struct many_values *v, const struct stored_runs *all)
{
	struct many_metrics m = { 0 };

	many_metrics_put(&m, "wall");
	many_metrics_put(&m, "peak");
	many_metrics_put(&m, "cpu");
	assert_int_equal(many_values_open(v, &m, all), 0);
	assert_int_equal(unusual_find(u, v, all, USUAL_DISTANCE), 0);
}

static void release(struct unusual *u, struct many_values *v)
{
	unusual_done(u);
	many_values_done(v);
}

static void runs_are_unusual_among_those_of_their_name(void **state)
{
	struct stored_runs all;
	struct many_values v;
	struct unusual u;

	(void)state;
	runs_make(&all);
	runs[7].wall_ns *= 10;
	runs[8].rss_peak_bytes += 1 << 19; /* all others are the same: but half a MiB is nothing */
	runs[9].exit_code = 3;
	runs[10].state = RUN_UNFINISHED;
	runs[11].wall_ns = 1;
	runs[12].wall_ns = 1;
	runs[12].signal = 9;                    /* it is short because it was killed */
	runs[55].wall_ns = 1070 * 1000000000LL; /* there it is long as well */
	find(&u, &v, &all);
	assert_int_equal(u.judged + u.going_on, MANY);
	assert_int_equal(u.groups, 2);
	assert_int_equal(u.nr, 5);
	for (size_t i = 0; i < u.nr; i++) {
		size_t at = u.list[i].at;

		assert_true(at == 7 || at == 9 || at == 11 || at == 12 || at == 55);
		assert_int_equal(u.list[i].has_failed, at == 9 || at == 12);
		assert_int_equal(u.list[i].failure_is_unusual, at == 9 || at == 12);
		assert_int_equal(u.list[i].nr_off, at != 9 && at != 12);
		assert_true(!i || u.list[i].score <= u.list[i - 1].score);
	}
	release(&u, &v);
}

static void few_runs_are_judged_by_those_there_are(void **state)
{
	struct stored_runs all;
	struct many_values v;
	struct unusual u;

	(void)state;
	runs_make(&all);
	for (size_t i = 0; i < MANY; i++)
		runs[i].name = i < 8 ? name : NULL; /* each of the others is a command of its own */
	for (size_t i = 8; i < MANY; i++)
		runs[i].command = i < 15 ? name : other;
	runs[0].wall_ns *= 100;
	runs[0].exit_code = 1; /* seven are left that ended well */
	for (size_t i = 15; i < MANY; i++)
		runs[i].state = RUN_RUNNING;
	find(&u, &v, &all);
	assert_int_equal(u.nr, 1);
	assert_int_equal(u.list[0].at, 0);
	assert_int_equal(u.list[0].nr_off, 1);
	assert_int_equal(u.list[0].off[0].usual.nr, 7);
	assert_int_equal(u.judged, 0);
	assert_int_equal(u.few, 15);
	assert_int_equal(u.few_groups, 2);
	release(&u, &v);
	for (size_t i = 1; i < 5; i++)
		runs[i].exit_code = 1; /* of three runs none is far from the others */
	find(&u, &v, &all);
	assert_int_equal(u.nr, 5);
	for (size_t i = 0; i < u.nr; i++)
		assert_true(u.list[i].has_failed && !u.list[i].nr_off);
	assert_int_equal(u.lacking[0], 0);
	release(&u, &v);
}

static void a_failure_is_found_where_a_metric_is_known_of_too_few(void **state)
{
	struct stored_runs all;
	struct many_values v;
	struct unusual u;

	(void)state;
	runs_make(&all);
	for (size_t i = 0; i < MANY; i++)
		runs[i].wall_ns = runs[i].rss_peak_bytes = -1;
	runs[3].exit_code = 1;
	find(&u, &v, &all);
	assert_int_equal(u.judged, MANY);
	assert_int_equal(u.few, 0);
	assert_int_equal(u.lacking[0], 2);
	assert_int_equal(u.nr, 1);
	assert_int_equal(u.list[0].at, 3);
	release(&u, &v);
}

static void failures_are_listed_where_most_fail(void **state)
{
	struct stored_runs all;
	struct many_values v;
	struct unusual u;

	(void)state;
	runs_make(&all);
	for (size_t i = 0; i < 30; i++)
		runs[i].exit_code = 1;
	runs[2].wall_ns *= 100;
	find(&u, &v, &all);
	assert_int_equal(u.nr, 30);
	for (size_t i = 0; i < u.nr; i++) /* that they failed is usual */
		assert_true(u.list[i].has_failed && !u.list[i].failure_is_unusual);
	assert_int_equal(u.list[0].at, 2); /* but not how long it took */
	assert_int_equal(u.list[1].at, 29);
	release(&u, &v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_scale_is_the_median_deviation),
		cmocka_unit_test(normal_values_have_their_standard_deviation),
		cmocka_unit_test(what_every_tenth_run_has_is_not_far),
		cmocka_unit_test(two_kinds_of_input_are_not_far),
		cmocka_unit_test(zeros_do_not_hide_magnitudes),
		cmocka_unit_test(of_equal_values_any_other_is_far),
		cmocka_unit_test(runs_are_unusual_among_those_of_their_name),
		cmocka_unit_test(few_runs_are_judged_by_those_there_are),
		cmocka_unit_test(a_failure_is_found_where_a_metric_is_known_of_too_few),
		cmocka_unit_test(failures_are_listed_where_most_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
