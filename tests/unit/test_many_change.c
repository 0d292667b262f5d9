// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes of a sequence: the flow of the Nile at Aswan from 1871 to 1970, which is lower since 1899
 * (Cobb 1978; Pettitt's test gives the same year), p against all orders of few values, and how
 * often chance is called a change.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/stats.h"
#include "study/trend.h"

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define MANY 2000

static double values[MANY];
static size_t places[MANY];

static size_t places_make(size_t n, size_t step)
{
	size_t nr = 0;

	for (size_t at = step; at < n; at += step)
		places[nr++] = at;
	return nr;
}

static double chance(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(*seed >> 33) + 0.5) / 2147483648.0;
}

static struct changes find(size_t n, size_t step)
{
	struct changes c;

	assert_int_equal(changes_find(&c, values, n, places, places_make(n, step)), 0);
	return c;
}

static void the_nile_is_lower_since_1899(void **state)
{
	static const double nile[] = {
		1120, 1160, 963,  1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110,
		994,  1020, 960,  1180, 799,  958,  1140, 1100, 1210, 1150, 1250, 1260, 1220,
		1030, 1100, 774,  840,  874,  694,  940,  833,  701,  916,  692,  1020, 1050,
		969,  831,  726,  456,  824,  702,  1120, 1100, 832,  764,  821,  768,  845,
		864,  862,  698,  845,  744,  796,  1040, 759,  781,  865,  845,  944,  984,
		897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,  1040, 860,  874,
		848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,  1020,
		906,  901,  1170, 912,  746,  919,  718,  714,  740,
	};
	struct changes c;

	(void)state;
	memcpy(values, nile, sizeof(nile));
	c = find(COUNT(nile), 1);
	assert_int_equal(c.nr, 1);
	assert_int_equal(places[c.list[0].place], 1899 - 1871);
	assert_true(c.list[0].p <= 0.0002);
}

/* The statistic by its definition: means of the ranks before and after each place. */
static double largest_difference(const double *v, size_t n, size_t step)
{
	double ranks[16], largest = 0;

	assert_int_equal(stats_ranks(v, n, ranks), 0);
	for (size_t at = step; at < n; at += step) {
		double before = 0, after = 0, k = (double)at, rest = (double)(n - at);

		for (size_t i = 0; i < n; i++)
			*(i < at ? &before : &after) += ranks[i];
		largest = fmax(largest, fabs(before / k - after / rest) * sqrt(k * rest));
	}
	return largest;
}

static void orders_count(double *v, size_t at, size_t n, size_t step, double found,
			 double *as_large, double *all)
{
	if (at == n) {
		*all += 1;
		*as_large += largest_difference(v, n, step) >= found * (1 - 1e-9);
		return;
	}
	for (size_t i = at; i < n; i++) {
		double kept = v[at];

		v[at] = v[i];
		v[i] = kept;
		orders_count(v, at + 1, n, step, found, as_large, all);
		v[i] = v[at];
		v[at] = kept;
	}
}

static void p_is_the_share_of_all_orders(void **state)
{
	static const double lists[][8] = {
		{ 1, 2, 3, 4, 5, 6, 7, 8 },
		{ 5, 1, 4, 2, 8, 6, 9, 7 },
		{ 10, 11, 12, 30, 31, 9, 32, 33 },
		{ 1, 1, 2, 1, 2, 2, 2, 3 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++)
		for (size_t step = 1; step <= 4; step += 3) {
			double v[8], as_large = 0, all = 0, p;
			struct changes c;

			memcpy(v, lists[i], sizeof(v));
			memcpy(values, v, sizeof(v));
			c = find(8, step);
			assert_true(c.is_enough);
			orders_count(v, 0, 8, step, largest_difference(v, 8, step), &as_large,
				     &all);
			p = as_large / all;
			assert_true(all == 40320);
			/* where it is large, few orders were tried */
			assert_true(fabs(c.p - p) < (p < 0.08 ? 0.012 : 0.2));
			assert_int_equal(c.nr, p < 0.05);
		}
}

static void each_of_two_changes_is_found(void **state)
{
	uint64_t seed = 1;
	struct changes c;

	(void)state;
	for (size_t i = 0; i < 120; i++)
		values[i] = 100 + chance(&seed) + (i >= 40) * 10.0 - (i >= 90) * 5.0;
	c = find(120, 5);
	assert_int_equal(c.nr, 2);
	assert_int_equal(places[c.list[0].place], 40);
	assert_int_equal(places[c.list[1].place], 90);
}

static void chance_is_seldom_called_a_change(void **state)
{
	uint64_t seed = 7;
	size_t called = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < 60; i++)
			values[i] = chance(&seed);
		called += find(60, 3).nr > 0;
	}
	assert_in_range(called, 1, 19); /* 10 are expected; the seed is fixed */
}

static void of_few_or_equal_values_nothing_is_claimed(void **state)
{
	struct changes c;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		values[i] = i < 3 ? 1 : 100; /* one side of a place has at most three */
	assert_int_equal(changes_find(&c, values, 6, (size_t[]){ 3 }, 1), 0);
	assert_false(c.is_enough);
	assert_int_equal(c.nr, 0);
	assert_int_equal(changes_find(&c, values, 1, NULL, 0), 0);
	assert_false(c.is_enough);
	for (size_t i = 0; i < MANY; i++)
		values[i] = 5;
	c = find(MANY, 100);
	assert_true(c.is_enough && c.p >= 0.05);
	assert_int_equal(c.nr, 0);
}

static void many_values_are_compared_too(void **state)
{
	uint64_t seed = 3;
	struct changes c;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		values[i] = chance(&seed) + (i >= 1500 ? 0.2 : 0);
	c = find(MANY, 100);
	assert_true(c.nr >= 1);
	assert_int_equal(places[c.list[0].place], 1500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nile_is_lower_since_1899),
		cmocka_unit_test(p_is_the_share_of_all_orders),
		cmocka_unit_test(each_of_two_changes_is_found),
		cmocka_unit_test(chance_is_seldom_called_a_change),
		cmocka_unit_test(of_few_or_equal_values_nothing_is_claimed),
		cmocka_unit_test(many_values_are_compared_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
