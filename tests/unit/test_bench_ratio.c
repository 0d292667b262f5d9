// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a benchmark says of its times. The interval of a ratio is that of Moses (Hollander and Wolfe
 * 1999, p. 126) for the permeability of membranes, as differences of logarithms; it was also found
 * by going through all arrangements.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/result.h"
#include "study/side.h"
#include "study/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef TRIALS
#define TRIALS 1000 /* with 10,000: 4.5 % for 2 commands, 2.7 % for 5 and for 10 */
#endif

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9);
}

static void few_numbers_have_mean_and_deviation(void **state)
{
	double v[] = { 4, 2, 9, 5 }, one[] = { 3 };
	struct measure m;

	(void)state;
	measure_make(&m, v, COUNT(v));
	assert_near(m.mean, 5);
	assert_near(m.sd, sqrt(26.0 / 3));
	assert_near(m.median, 4.5);
	assert_true(m.least == 2 && m.most == 9);
	measure_make(&m, one, 1);
	assert_true(m.mean == 3 && isnan(m.sd));
	measure_make(&m, one, 0);
	assert_true(isnan(m.mean) && isnan(m.median));
}

static void the_interval_is_that_of_the_textbook(void **state)
{
	double b[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	double a[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct ratio r;

	(void)state;
	for (size_t i = 0; i < COUNT(b); i++)
		b[i] = exp(b[i]);
	for (size_t i = 0; i < COUNT(a); i++)
		a[i] = exp(a[i]);
	assert_int_equal(ratio_estimate(a, COUNT(a), b, COUNT(b), &r), 0);
	assert_true(r.has_interval);
	assert_near(log(r.estimate), 0.305);
	assert_near(log(r.low), -0.15);
	assert_near(log(r.high), 0.76);
}

static void too_few_values_have_no_interval(void **state)
{
	static const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 }, c[] = { 4, 5, 6, 7, 8 };
	struct ratio r;

	(void)state;
	assert_int_equal(ratio_estimate(a, 3, b, 3, &r), 0);
	assert_false(r.has_interval); /* of 20 arrangements */
	assert_near(r.estimate, 2.5); /* of 4/3, 5/3, 2, 2, 2.5, 3, 4, 5, 6 */
	assert_int_equal(ratio_estimate(a, 3, c, 5, &r), 0);
	assert_true(r.has_interval); /* of 56 */
}

/* Times of a program on a machine that is disturbed now and then. */
static double time_draw(unsigned short seed[3], double factor)
{
	double t = 1 + 0.02 * erand48(seed) - 0.01 * log(1 - erand48(seed));

	return factor * (erand48(seed) < 0.1 ? t * (1 + erand48(seed)) : t);
}

static void times_draw(unsigned short seed[3], double factor, double *v, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		v[i] = time_draw(seed, factor);
}

static void the_same_program_is_rarely_called_different(void **state)
{
	unsigned short seed[3] = { 1, 2, 3 };
	size_t different = 0, left_out = 0;
	double a[10], b[10];
	struct rank_test t;
	struct ratio r;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		times_draw(seed, 1, a, 10);
		times_draw(seed, 1, b, 10);
		assert_int_equal(stats_rank_test(a, 10, b, 10, &t), 0);
		assert_int_equal(ratio_estimate(a, 10, b, 10, &r), 0);
		different += t.p < 0.05;
		left_out += r.low > 1 || r.high < 1;
		assert_true((t.p < 0.05) == (r.low > 1 || r.high < 1));
		if (i == 49)
			assert_true(different <= 5);
	}
	assert_in_range(different, 433 - 61,
			433 + 61); /* 0.0433 of all arrangements, 3 deviations */
	assert_int_equal(different, left_out);
}

static void the_interval_has_the_true_factor(void **state)
{
	static const size_t of[][2] = { { 10, 10 }, { 5, 8 }, { 30, 40 } };
	unsigned short seed[3] = { 4, 5, 6 };
	double a[40], b[40];
	struct ratio r;

	(void)state;
	for (size_t k = 0; k < COUNT(of); k++) {
		size_t holds = 0;

		for (int i = 0; i < 500; i++) {
			times_draw(seed, 1, a, of[k][0]);
			times_draw(seed, 1.3, b, of[k][1]);
			assert_int_equal(ratio_estimate(a, of[k][0], b, of[k][1], &r), 0);
			holds += r.low <= 1.3 && r.high >= 1.3;
		}
		assert_in_range(holds, 465, 500); /* 475 or more are expected, deviation 5 */
	}
}

#define MOST_COMMANDS 10

struct trial {
	struct bench_plan plan;
	struct bench_case cases[MOST_COMMANDS];
	char labels[MOST_COMMANDS][2];
	struct sides runs;
	size_t key;
};

static void trial_make(struct trial *t, size_t commands, size_t runs)
{
	*t = (struct trial){ .plan = { .nr = commands } };
	t->plan.cases = t->cases;
	assert_int_equal(run_key_find("wall_seconds", strlen("wall_seconds"), &t->key), 0);
	for (size_t i = 0; i < commands; i++) {
		t->labels[i][0] = (char)('a' + i);
		t->cases[i].label = t->labels[i];
		for (size_t k = 0; k < runs; k++) {
			struct side *s = sides_append(&t->runs, "run");

			json_object_set_new(s->facts, "tags.case", json_string(t->labels[i]));
		}
	}
}

/* Whether any command is called slower than the fastest. */
static bool trial_has_winner(struct trial *t)
{
	struct bench_result r;
	bool has = false;

	assert_int_equal(bench_result_make(&r, &t->plan, &t->runs), 0);
	for (size_t g = 1; g < r.groups.nr; g++)
		has |= against_of(&r.comparison, g, t->key)->verdict == VERDICT_DIFFERENT;
	bench_result_done(&r);
	return has;
}

/* Box and Muller */
static double normal_draw(unsigned short seed[3])
{
	return sqrt(-2 * log(1 - erand48(seed))) * cos(2 * M_PI * erand48(seed));
}

static void the_fastest_of_equal_commands_rarely_wins(void **state)
{
	static const size_t of[] = { 2, 5, 10 };
	unsigned short seed[3] = { 7, 8, 9 };

	(void)state;
	for (size_t k = 0; k < COUNT(of); k++) {
		size_t won = 0;
		struct trial t;

		trial_make(&t, of[k], 10);
		for (int i = 0; i < TRIALS; i++) {
			for (size_t s = 0; s < t.runs.nr; s++)
				t.runs.list[s].value[t.key] = 1 + 0.05 * normal_draw(seed);
			won += trial_has_winner(&t);
		}
		print_message("of %d benchmarks with %zu commands %zu have a winner\n", TRIALS,
			      of[k], won);
		assert_true((double)won < TRIALS * 0.05 + 3 * sqrt(TRIALS * 0.05 * 0.95));
		sides_done(&t.runs);
	}
}

/* Of 4 commands the last is slower in all runs, but for its first. */
static enum verdict verdict_of_fourth(double first)
{
	const double times[] = { 1.01,  1.02,  1.03,  1.04,  1.05,  1.011, 1.021,
				 1.031, 1.041, 1.051, 1.012, 1.022, 1.032, 1.042,
				 1.052, first, 2.01,  2.02,  2.03,  2.04 };
	enum verdict v = VERDICT_NONE;
	struct bench_result r;
	struct trial t;

	trial_make(&t, 4, 5);
	for (size_t s = 0; s < t.runs.nr; s++)
		t.runs.list[s].value[t.key] = times[s];
	assert_int_equal(bench_result_make(&r, &t.plan, &t.runs), 0);
	for (size_t g = 1; g < r.groups.nr; g++)
		if (r.case_of[g] == 3)
			v = against_of(&r.comparison, g, t.key)->verdict;
	bench_result_done(&r);
	sides_done(&t.runs);
	return v;
}

/* 6 pairs: 3 would be enough for those with one command that was chosen before. */
static void times_are_corrected_for_all_pairs(void **state)
{
	(void)state;
	assert_int_equal(verdict_of_fourth(2), VERDICT_DIFFERENT);   /* p is 2 of 252 */
	assert_int_equal(verdict_of_fourth(1.045), VERDICT_NO_SIGN); /* 4 of 252 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_numbers_have_mean_and_deviation),
		cmocka_unit_test(the_interval_is_that_of_the_textbook),
		cmocka_unit_test(too_few_values_have_no_interval),
		cmocka_unit_test(the_same_program_is_rarely_called_different),
		cmocka_unit_test(the_interval_has_the_true_factor),
		cmocka_unit_test(times_are_corrected_for_all_pairs),
		cmocka_unit_test(the_fastest_of_equal_commands_rarely_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
