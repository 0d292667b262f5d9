// SPDX-License-Identifier: BSD-2-Clause
/*
 * The statistics against known values: Hollander and Wolfe's permeability of membranes (1999, p.
 * 110), and what scipy 1.10.1 gives: mannwhitneyu(method='exact'), (method='asymptotic'), and
 * permutation_test over all arrangements where values are tied; quartiles: numpy.percentile.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare_fixture.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define NEAR 1e-12

static struct rank_test test(const double *a, size_t na, const double *b, size_t nb)
{
	struct rank_test t;

	assert_int_equal(stats_rank_test(a, na, b, nb, &t), 0);
	return t;
}

static void quartiles_are_linear_between_values(void **state)
{
	static const double v[] = { 1, 2, 4, 8, 16, 32 };

	(void)state;
	assert_true(stats_quantile(v, COUNT(v), 0.25) == 2.5);
	assert_true(stats_quantile(v, COUNT(v), 0.5) == 6);
	assert_true(stats_quantile(v, COUNT(v), 0.75) == 14);
	assert_true(stats_quantile(v, 1, 0.75) == 1);
	assert_true(stats_quantile(v, 3, 0.5) == 2);
}

static void small_samples_are_exact(void **state)
{
	static const double females[] = { 20, 11, 17, 12 }, males[] = { 19, 22, 16, 29, 24 };
	struct rank_test t = test(females, COUNT(females), males, COUNT(males));

	(void)state;
	assert_true(t.is_exact);
	assert_true(t.u == 17);
	assert_near(t.p, 0.1111111111111111, NEAR);
	assert_near(t.p_least, 2.0 / 126, NEAR);
}

static void the_textbook_agrees(void **state)
{
	static const double term[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	static const double early[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct rank_test t = test(term, COUNT(term), early, COUNT(early));

	(void)state;
	assert_true(t.u == 15);
	assert_near(t.p, 0.2544122544122544, NEAR); /* 0.1272 of one side */
}

static void ten_against_ten_apart_are_hardly_chance(void **state)
{
	double a[10], b[10];
	struct rank_test t;

	(void)state;
	for (int i = 0; i < 10; i++) {
		a[i] = i;
		b[i] = 10 + i;
	}
	t = test(a, 10, b, 10);
	assert_true(t.u == 100);
	assert_near(t.p, 1.082508822446903e-05, 1e-17);
	assert_near(t.p_least, t.p, 1e-15);
	assert_near(test(b, 10, a, 10).p, t.p, 1e-17);
	assert_true(test(b, 10, a, 10).u == 0);
}

static void ties_share_their_rank_and_stay_exact(void **state)
{
	static const double a[] = { 1, 2, 2, 3, 5 }, b[] = { 2, 3, 3, 4, 6, 6 };
	static const double c[] = { 5, 5, 5, 7 }, d[] = { 5, 9, 9, 9, 9 };

	(void)state;
	assert_near(test(a, COUNT(a), b, COUNT(b)).p, 0.16883116883116883, NEAR);
	assert_near(test(c, COUNT(c), d, COUNT(d)).p, 0.07936507936507936, NEAR);
}

static void equal_values_are_all_chance(void **state)
{
	static const double v[40] = { 0 };
	double w[60] = { 0 };

	(void)state;
	assert_true(test(v, 10, v, 10).p == 1);
	assert_true(test(w, 60, w, 60).p == 1);
	assert_false(test(w, 60, w, 60).is_exact);
}

static void many_values_are_approximated_with_ties_corrected(void **state)
{
	double a[30], b[30];
	struct rank_test t;

	(void)state;
	for (int i = 0; i < 30; i++) {
		a[i] = i * 7 % 26;
		b[i] = i * 11 % 30 + 4;
	}
	t = test(a, 26, b, 30);
	assert_false(t.is_exact);
	assert_true(t.u == 538);
	assert_near(t.p, 0.015343852260888007, NEAR);
	for (int i = 0; i < 30; i++) {
		a[i] = 3 * i;
		b[i] = 3 * i + 8.5;
	}
	assert_near(test(a, 30, b, 30).p, 0.2904721494938346, NEAR);
}

static void three_runs_against_three_are_too_few(void **state)
{
	static const double a[] = { 1, 2, 3 }, b[] = { 100, 200, 300 };

	(void)state;
	assert_near(test(a, 3, b, 3).p, 0.1, NEAR);
	assert_near(test(a, 3, b, 3).p_least, 0.1, NEAR);
}

/* Holm's own example of three: 0.01, 0.03, 0.04 become 0.03, 0.06, 0.06. */
static void holm_corrects_in_order_and_never_falls(void **state)
{
	double p[] = { 0.03, NAN, 0.01, 0.04 }, equal[] = { 0.2, 0.2, 0.9 }, one[] = { 0.04 };

	(void)state;
	assert_int_equal(stats_holm(p, 4), 0);
	assert_near(p[0], 0.06, NEAR);
	assert_true(isnan(p[1]));
	assert_near(p[2], 0.03, NEAR);
	assert_near(p[3], 0.06, NEAR);
	assert_int_equal(stats_holm(equal, 3), 0);
	assert_near(equal[0], 0.6, NEAR);
	assert_near(equal[1], 0.6, NEAR);
	assert_near(equal[2], 0.9, NEAR);
	assert_int_equal(stats_holm(one, 1), 0);
	assert_true(one[0] == 0.04);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quartiles_are_linear_between_values),
		cmocka_unit_test(small_samples_are_exact),
		cmocka_unit_test(the_textbook_agrees),
		cmocka_unit_test(ten_against_ten_apart_are_hardly_chance),
		cmocka_unit_test(ties_share_their_rank_and_stay_exact),
		cmocka_unit_test(equal_values_are_all_chance),
		cmocka_unit_test(many_values_are_approximated_with_ties_corrected),
		cmocka_unit_test(three_runs_against_three_are_too_few),
		cmocka_unit_test(holm_corrects_in_order_and_never_falls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
