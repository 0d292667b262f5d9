// SPDX-License-Identifier: BSD-2-Clause
/* Requests, against a simulation that replays every run with every request of a fine grid. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/allocation.h"

#include <math.h>

#define RUNS 1000
#define GRID 3000
#define GRID_RANGE 4000.0 /* the least request is that part of the largest peak */

/* Numbers in (0, 1), the same each time. */
static double draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(*state >> 11) + 0.5) / (double)(1ULL << 53);
}

static double draw_normal(uint64_t *state)
{
	const double radius = sqrt(-2 * log(draw(state)));

	return radius * cos(2 * 3.14159265358979323846 * draw(state));
}

static double normal(uint64_t *s)
{
	return fmax(1, 1000 + 100 * draw_normal(s));
}

static double bimodal(uint64_t *s)
{
	return fmax(1, (draw(s) < 0.85 ? 300 : 2900) + 40 * draw_normal(s));
}

static double long_tail(uint64_t *s)
{
	return 200 * exp(0.9 * draw_normal(s));
}

/* Five runs of a thousand need a thousand times as much. */
static double wide(uint64_t *s)
{
	return draw(s) < 0.995 ? 1 + 0.3 * draw(s) : 1000 + 600 * draw(s);
}

static double growing(uint64_t *s)
{
	return 100 + 4000 * draw(s) + 20 * draw_normal(s);
}

static void runs_make(struct need *runs, double (*peak)(uint64_t *), uint64_t seed)
{
	for (size_t i = 0; i < RUNS; i++) {
		runs[i].peak = fmax(1, peak(&seed));
		runs[i].time = 10 + 100 * draw(&seed) + runs[i].peak / 50;
	}
}

struct outcome {
	double held, node_time;
	size_t retried;
};

static double slots(const struct node *node, double request)
{
	const double fit = fmax(1, floor(node->capacity / request));

	return node->most > 0 && node->most < fit ? node->most : fit;
}

/* One after the other, as a queue would: an attempt that is too small is ended at its end. */
static struct outcome replay(const struct need *runs, double request, const struct node *node)
{
	struct outcome o = { 0 };

	for (size_t i = 0; i < RUNS; i++) {
		double now = fmin(request, node->capacity);

		for (int attempt = 0;; attempt++) {
			o.held += now * runs[i].time;
			o.node_time += runs[i].time / slots(node, now);
			if (runs[i].peak <= now || now >= node->capacity)
				break;
			o.retried += !attempt;
			now = fmin(2 * now, node->capacity);
		}
	}
	o.node_time /= RUNS;
	return o;
}

static void check_against_replay(double (*peak)(uint64_t *), const struct node *node)
{
	struct allocation waste, most;
	struct outcome best = { INFINITY, INFINITY, 0 }, one;
	struct need runs[RUNS];
	struct needs n;

	for (uint64_t seed = 1; seed <= 3; seed++) {
		best = (struct outcome){ INFINITY, INFINITY, 0 };
		runs_make(runs, peak, seed);
		assert_int_equal(needs_open(&n, runs, RUNS), 0);
		for (int i = 1; i <= GRID; i++) { /* the same ratio from one to the next */
			one = replay(runs,
				     n.all[RUNS - 1].peak * pow(GRID_RANGE, (double)i / GRID - 1),
				     node);
			best.held = fmin(best.held, one.held);
			best.node_time = fmin(best.node_time, one.node_time);
		}
		waste = needs_least_waste(&n, node);
		most = needs_most_runs(&n, node);
		/* what is advised, replayed, is what was said of it, and no grid point is better */
		one = replay(runs, waste.request, node);
		assert_true(fabs(one.held - waste.held) <= 1e-9 * one.held);
		assert_int_equal(one.retried, lround(waste.retried * RUNS));
		assert_true(waste.held <= 1.0000001 * best.held);
		one = replay(runs, most.request, node);
		assert_true(fabs(one.node_time - most.node_time) <= 1e-9 * one.node_time);
		assert_true(most.node_time <= 1.0000001 * best.node_time);
		needs_done(&n);
	}
}

static void on_any_distribution_no_request_is_better(void **state)
{
	static double (*const peaks[])(uint64_t *) = { normal, bimodal, long_tail, growing, wide };
	static const struct node nodes[] = { { 64000, 0 }, { 64000, 16 }, { 5000, 4 } };

	(void)state;
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++)
		for (size_t k = 0; k < sizeof(nodes) / sizeof(*nodes); k++)
			check_against_replay(peaks[i], &nodes[k]);
}

static void of_runs_that_are_alike_it_is_what_they_need(void **state)
{
	const struct need runs[] = { { 500, 10 }, { 500, 20 }, { 500, 30 } };
	struct allocation a;
	struct needs n;

	(void)state;
	assert_int_equal(needs_open(&n, runs, 3), 0);
	a = needs_least_waste(&n, NULL);
	assert_true(a.request == 500 && a.used == 1 && a.retried == 0);
	needs_done(&n);
}

/* Nine small ones and a large one: it is cheaper to start the large one again. */
static void a_rare_large_run_is_started_again(void **state)
{
	struct need runs[10];
	struct allocation a;
	struct needs n;

	(void)state;
	for (int i = 0; i < 9; i++)
		runs[i] = (struct need){ 100, 60 };
	runs[9] = (struct need){ 800, 60 };
	assert_int_equal(needs_open(&n, runs, 10), 0);
	a = needs_least_waste(&n, NULL);
	assert_true(a.request == 100);
	assert_true(fabs(a.retried - 0.1) < 1e-9);
	/* 60 x (10 x 100 + 200 + 400 + 800) */
	assert_true(fabs(a.held - 60 * 2400) < 1e-6);
	assert_true(fabs(needs_try(&n, 800, NULL).held - 60 * 8000) < 1e-6);
	needs_done(&n);
}

static void all_start_again_where_none_fits_at_first(void **state)
{
	const struct need runs[] = { { 100, 1 }, { 150, 1 } };
	struct needs n;

	(void)state;
	assert_int_equal(needs_open(&n, runs, 2), 0);
	assert_true(needs_try(&n, 40, NULL).retried == 1);
	assert_true(needs_try(&n, 100, NULL).retried == 0.5);
	needs_done(&n);
}

static void a_request_above_a_node_is_all_of_it(void **state)
{
	const struct need runs[] = { { 100, 1 }, { 150, 1 } };
	const struct node node = { 120, 0 };
	struct allocation a;
	struct needs n;

	(void)state;
	assert_int_equal(needs_open(&n, runs, 2), 0);
	a = needs_try(&n, 150, &node);
	assert_true(a.request == 120 && a.held == 240 && a.retried == 0);
	needs_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_any_distribution_no_request_is_better),
		cmocka_unit_test(of_runs_that_are_alike_it_is_what_they_need),
		cmocka_unit_test(a_rare_large_run_is_started_again),
		cmocka_unit_test(all_start_again_where_none_fits_at_first),
		cmocka_unit_test(a_request_above_a_node_is_all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
