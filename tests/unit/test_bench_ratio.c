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

#include "bench/ratio.h"
#include "compare/stats.h"

#include <math.h>
#include <stdlib.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_numbers_have_mean_and_deviation),
		cmocka_unit_test(the_interval_is_that_of_the_textbook),
		cmocka_unit_test(too_few_values_have_no_interval),
		cmocka_unit_test(the_same_program_is_rarely_called_different),
		cmocka_unit_test(the_interval_has_the_true_factor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
