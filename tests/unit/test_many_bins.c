// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bins of values against counting each value by itself, and the rules for their number and scale;
 * the rule of Freedman and Diaconis against numpy 1.24: histogram_bin_edges(bins='fd').
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/stats.h"
#include "study/bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANY 5000

static double values[MANY];
static struct bins b;

static double chance(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(*seed >> 33) + 0.5) / 2147483648.0;
}

static double normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(chance(seed)));

	return radius * cos(2 * M_PI * chance(seed));
}

static void make(size_t n, enum metric_unit unit, size_t most)
{
	stats_sort(values, n);
	bins_make(&b, values, n, unit, most);
}

/* Each bin has what a count of all values gives, and no value is in none. */
static void assert_counted(size_t n, size_t most)
{
	size_t sum = 0;

	assert_in_range(b.nr, 1, most);
	for (size_t i = 0; i < b.nr; i++) {
		const struct bin *bin = &b.list[i];
		bool is_closed = i + 1 == b.nr || bin->from == bin->to;
		size_t count = 0;

		for (size_t k = 0; k < n; k++)
			count += values[k] >= bin->from &&
				 (values[k] < bin->to || (is_closed && values[k] <= bin->to));
		assert_int_equal(bin->count, count);
		assert_true(!i || bin->from >= b.list[i - 1].to);
		assert_true(fabs(bins_place(&b, bin->from) - (double)i) <=
			    (bin->from == bin->to ? 0.5 : 1e-6));
		sum += count;
	}
	assert_int_equal(sum, n);
	for (size_t k = 1; k < n; k++) /* upwards on the axis, too */
		assert_true(bins_place(&b, values[k]) >= bins_place(&b, values[k - 1]) - 1e-9);
	assert_true(bins_place(&b, values[0]) >= 0);
	assert_true(bins_place(&b, values[n - 1]) <= (double)b.nr);
	assert_true(b.list[0].count && b.list[b.nr - 1].count);
}

static void bins_of_any_values_are_as_counted(void **state)
{
	static const size_t numbers[] = { 1, 2, 3, 10, 999, MANY };
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (int kind = 0; kind < 5; kind++)
			for (enum metric_unit unit = 0; unit < NR_UNITS; unit++)
				for (size_t most = 3; most <= MOST_BINS; most += 7) {
					for (size_t k = 0; k < numbers[i]; k++) {
						double z = normal(&seed);
						const double of[] = { 50 + z, exp(3 * z),
								      floor(fabs(z) * 3),
								      1e9 * chance(&seed),
								      z > 1 ? 0 : exp(9 + z) };

						values[k] = fabs(of[kind]);
					}
					make(numbers[i], unit, most);
					assert_counted(numbers[i], most);
				}
}

static void edges_are_round(void **state)
{
	(void)state;
	for (size_t i = 0; i < 1000; i++)
		values[i] = 1.1e6 + (double)i * 1e4; /* 1.05 to 10.6 MiB */
	make(1000, UNIT_BYTES, 20);
	assert_true(b.list[0].from == 1048576);
	assert_true(b.list[1].from == 2097152);
	for (size_t i = 0; i < 1000; i++)
		values[i] = 0.3 + (double)i / 1000;
	make(1000, UNIT_NS, 12);
	assert_true(fabs(b.list[0].from - 0.2) < 1e-15 || fabs(b.list[0].from - 0.3) < 1e-15);
	assert_false(b.is_log);
}

static void what_is_spread_evenly_has_a_linear_scale(void **state)
{
	(void)state;
	for (size_t i = 0; i < 1000; i++)
		values[i] = (double)i;
	make(1000, UNIT_COUNT, 20);
	assert_false(b.is_log);
	assert_int_equal(b.nr, 10); /* as many as numpy has: the width is 99.9 */
	assert_int_equal(b.list[3].count, 100);
}

static void what_is_spread_over_magnitudes_has_a_logarithmic_one(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		values[i] = i < 100 ? 0 : exp(15 + 2 * normal(&seed));
	make(1000, UNIT_BYTES, 20);
	assert_true(b.is_log);
	assert_true(b.list[0].from == 0 && b.list[0].to == 0 && b.list[0].count == 100);
	for (size_t i = 1; i < b.nr; i++)
		assert_true(log2(b.list[i].from) == floor(log2(b.list[i].from)));
}

static void one_that_went_astray_does_not_hide_the_others(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		values[i] = i ? 10 + normal(&seed) : 1e5;
	make(1000, UNIT_NS, 20);
	assert_true(b.is_log);
	assert_true(b.nr > 3);
}

static void equal_values_are_one_bin(void **state)
{
	(void)state;
	for (size_t i = 0; i < 10; i++)
		values[i] = 7;
	make(10, UNIT_COUNT, 20);
	assert_int_equal(b.nr, 1);
	assert_true(b.list[0].from == 7 && b.list[0].to == 7 && b.list[0].count == 10);
	make(0, UNIT_COUNT, 20);
	assert_int_equal(b.nr, 0);
}

static void edges_of_values_that_are_close_look_apart(void **state)
{
	static const double centre[NR_UNITS] = {
		[UNIT_NS] = 1, [UNIT_BYTES] = 3.22 * (1 << 30), [UNIT_MILLI] = 2, [UNIT_COUNT] = 1e6
	};
	static const enum metric_unit units[] = { UNIT_NS, UNIT_BYTES, UNIT_MILLI, UNIT_COUNT };
	char text[NUMBER_BYTES], before[NUMBER_BYTES];
	struct edge_style style;
	uint64_t seed = 4;

	(void)state;
	for (size_t k = 0; k < sizeof(units) / sizeof(*units); k++) {
		for (size_t i = 0; i < 1000; i++)
			values[i] = centre[units[k]] * (1 + 1e-4 * normal(&seed));
		make(1000, units[k], 20);
		style = edge_style_make(&b, units[k]);
		assert_true(b.nr > 5);
		for (size_t i = 1; i <= b.nr; i++)
			assert_string_not_equal(edge_format(before, &style, bins_edge(&b, i - 1)),
						edge_format(text, &style, bins_edge(&b, i)));
	}
	values[0] = 3e9;
	make(1, UNIT_BYTES, 20);
	style = edge_style_make(&b, UNIT_BYTES);
	assert_string_equal(edge_format(text, &style, 3e9), number_format(before, UNIT_BYTES, 3e9));
	assert_string_equal(edge_format(text, &style, 0), "0 B");
}

static void few_runs_have_few_bins(void **state)
{
	/* numpy: 3 bins */
	static const double few[] = { 9.7, 10.1, 10.2, 10.6, 10.9, 11.3, 11.4, 12.9 };

	(void)state;
	for (size_t i = 0; i < 8; i++)
		values[i] = few[i];
	make(8, UNIT_NS, 20);
	assert_in_range(b.nr, 2, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_of_any_values_are_as_counted),
		cmocka_unit_test(edges_are_round),
		cmocka_unit_test(what_is_spread_evenly_has_a_linear_scale),
		cmocka_unit_test(what_is_spread_over_magnitudes_has_a_logarithmic_one),
		cmocka_unit_test(one_that_went_astray_does_not_hide_the_others),
		cmocka_unit_test(equal_values_are_one_bin),
		cmocka_unit_test(edges_of_values_that_are_close_look_apart),
		cmocka_unit_test(few_runs_have_few_bins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
