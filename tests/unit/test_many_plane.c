// SPDX-License-Identifier: BSD-2-Clause
/* Cells of a plane against counting the runs that are between the edges of their bins. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/distribution.h"
#include "study/scatter.h"

#include <math.h>

#define RUNS 2000UL
#define LACKING 7UL /* each so many runs lack a value */

static double value[2 * RUNS];
static struct many_values v = { .metrics = { .nr = 2 }, .nr = RUNS, .value = value };
static struct distribution x, y;

static int values_fill(void **state)
{
	uint64_t seed = 1;

	(void)state;
	many_metrics_put(&v.metrics, "wall_seconds");
	many_metrics_put(&v.metrics, "rss_peak_bytes");
	v.metrics.nr = 2;
	for (size_t i = 0; i < 2 * RUNS; i++) {
		double chance;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		chance = (double)(seed >> 33) / 2147483648.0;
		value[i] = i < RUNS ? 20 + 10 * chance : floor(exp(25 * chance));
	}
	for (size_t i = 0; i < RUNS; i += LACKING)
		value[i] = NAN;
	for (size_t i = RUNS; i < 2 * RUNS; i += LACKING + 1)
		value[i] = NAN;
	return distribution_make(&x, &v, 0, 20) || distribution_make(&y, &v, 1, 20);
}

static bool bin_has(const struct bins *b, size_t at, double number)
{
	const struct bin *bin = &b->list[at];
	bool is_closed = at + 1 == b->nr || bin->from == bin->to;

	return number >= bin->from && (number < bin->to || (is_closed && number <= bin->to));
}

static size_t runs_in(size_t column, size_t row)
{
	size_t n = 0;

	for (size_t i = 0; i < RUNS; i++)
		n += bin_has(&x.bins, column, value[i]) && bin_has(&y.bins, row, value[RUNS + i]);
	return n;
}

static void plane_of(struct plane *p, size_t most_x, size_t most_y)
{
	const struct plane_side right = { .bins = &x.bins, .metric = 0 };
	const struct plane_side up = { .bins = &y.bins, .metric = 1 };

	assert_int_equal(plane_make(p, &v, right, up, most_x, most_y), 0);
}

static void a_cell_for_each_bin_has_the_runs_between_its_edges(void **state)
{
	struct plane p;

	(void)state;
	assert_true(y.bins.is_log && !x.bins.is_log);
	plane_of(&p, 1, 1);
	assert_int_equal(p.x.cells, x.bins.nr);
	assert_int_equal(p.y.cells, y.bins.nr);
	for (size_t row = 0; row < p.y.cells; row++)
		for (size_t column = 0; column < p.x.cells; column++)
			assert_int_equal(plane_count(&p, column, row), runs_in(column, row));
	plane_done(&p);
}

static void parts_of_a_bin_have_its_runs(void **state)
{
	struct plane p;
	size_t all = 0;

	(void)state;
	plane_of(&p, 75, 40);
	assert_int_equal(p.x.parts, 75 / x.bins.nr);
	assert_int_equal(p.y.parts, 40 / y.bins.nr);
	for (size_t row = 0; row < y.bins.nr; row++)
		for (size_t column = 0; column < x.bins.nr; column++) {
			size_t n = 0;

			for (size_t i = 0; i < p.x.parts * p.y.parts; i++)
				n += plane_count(&p, column * p.x.parts + i % p.x.parts,
						 row * p.y.parts + i / p.x.parts);
			assert_int_equal(n, runs_in(column, row));
			all += n;
		}
	assert_int_equal(p.nr, all);
	plane_done(&p);
}

static void runs_that_lack_a_value_are_in_no_cell(void **state)
{
	struct plane p;
	size_t lack = 0;

	(void)state;
	plane_of(&p, 1, 1);
	for (size_t i = 0; i < RUNS; i++)
		lack += i % LACKING == 0 || i % (LACKING + 1) == 0;
	assert_int_equal(p.nr, RUNS - lack);
	plane_done(&p);
}

static void a_shade_is_a_power_of_four(void **state)
{
	(void)state;
	assert_int_equal(plane_shade(1, 5), 0);
	assert_int_equal(plane_shade(3, 5), 0);
	assert_int_equal(plane_shade(4, 5), 1);
	assert_int_equal(plane_shade(63, 5), 2);
	assert_int_equal(plane_shade(64, 5), 3);
	assert_int_equal(plane_shade(256, 5), 4);
	assert_int_equal(plane_shade(UINT32_MAX, 5), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_for_each_bin_has_the_runs_between_its_edges),
		cmocka_unit_test(parts_of_a_bin_have_its_runs),
		cmocka_unit_test(runs_that_lack_a_value_are_in_no_cell),
		cmocka_unit_test(a_shade_is_a_power_of_four),
	};

	return cmocka_run_group_tests(tests, values_fill, NULL);
}
