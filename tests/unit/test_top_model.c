// SPDX-License-Identifier: BSD-2-Clause
/* The history of a run that top keeps: sums with ended processes, parents, past moments, bounds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "top_fixture.h"

#define NSEC 1000000000ULL
#define CHILDREN 1000

struct watched {
	struct model model;
	struct scene scene;
};

static int run_make(void **state)
{
	struct watched *r = calloc(1, sizeof(*r));

	take_meta(&r->model);
	*state = r;
	return 0;
}

static int run_free(void **state)
{
	struct watched *r = *state;

	scene_done(&r->scene);
	model_done(&r->model);
	line_done(&fixture_line);
	free(r);
	return 0;
}

/* A root that lives, and children that have ended in its first second. */
static void take_children(struct model *m, int nr)
{
	take_sample(m, 0, 0, 1);
	take_live(m, 0, 100, 1, 0, 0);
	for (int i = 0; i < nr; i++)
		take_record(m, 1000 + i, 100, 0, 1, 0.001 * (i + 1));
	take_sample(m, 1, 0, 1);
	take_live(m, 1, 100, 1, 0, 0.5);
}

static void sum_of_a_parent_is_that_of_the_records_of_its_dead_children(void **state)
{
	struct watched *r = *state;
	const struct actor *a;
	uint64_t cpu_ns = NSEC / 2, minflt = 0;

	take_children(&r->model, CHILDREN);
	for (uint64_t i = 0; i < CHILDREN; i++) {
		cpu_ns += (i + 1) * 1000000;
		minflt += 1000 + i;
	}
	a = scene_actor(&r->scene, &r->model, 1, 100);
	assert_non_null(a);
	assert_int_equal(r->scene.nr_actors, 1);
	assert_int_equal(a->own.value[MEASURE_CPU], NSEC / 2);
	assert_int_equal(a->sum.value[MEASURE_CPU], cpu_ns);
	assert_int_equal(a->sum.value[MEASURE_MINFLT], minflt);
	assert_int_equal(a->sum.value[MEASURE_READ], 2 * minflt);
	assert_int_equal(a->sum_grown.value[MEASURE_CPU], cpu_ns);
	assert_int_equal(a->sum.value[MEASURE_RSS], 4096);
	assert_int_equal(a->nr_below, CHILDREN);
	assert_int_equal(r->scene.nr_ended, 1);
	assert_int_equal(r->scene.ended[0].nr, CHILDREN);
	assert_int_equal(r->scene.ended[0].used.value[MEASURE_CPU], cpu_ns - NSEC / 2);
	assert_int_equal(r->scene.total.value[MEASURE_CPU], cpu_ns);
}

static void bounded_history_keeps_the_sums(void **state)
{
	struct watched *r = *state;
	const struct actor *a;
	uint64_t all_ns;

	take_children(&r->model, CHILDREN);
	a = scene_actor(&r->scene, &r->model, 1, 100);
	all_ns = a->sum.value[MEASURE_CPU];
	model_done(&r->model);
	take_meta(&r->model);
	r->model.most_tasks = 64;
	r->model.most_points = 64;
	take_children(&r->model, CHILDREN);
	a = scene_actor(&r->scene, &r->model, 1, 100);
	assert_true(r->model.nr_tasks <= 64);
	assert_int_equal(a->sum.value[MEASURE_CPU], all_ns);
	assert_int_equal(r->scene.nr_ended_processes, CHILDREN);
	assert_int_equal(r->scene.total.value[MEASURE_CPU], all_ns);
}

static void dead_goes_to_the_nearest_ancestor_that_lives(void **state)
{
	struct watched *r = *state;

	take_sample(&r->model, 1, 0, 3);
	take_live(&r->model, 1, 100, 1, 0, 1);
	take_live(&r->model, 1, 200, 100, 1, 0);
	take_live(&r->model, 1, 300, 200, 1, 0);
	take_record(&r->model, 300, 200, 1, 2, 4);
	take_sample(&r->model, 2, 5, 2);
	take_live(&r->model, 2, 100, 1, 0, 1);
	take_live(&r->model, 2, 200, 100, 1, 0);
	take_record(&r->model, 200, 100, 1, 3, 8);
	take_sample(&r->model, 3, 13, 1);
	take_live(&r->model, 3, 100, 1, 0, 1);
	assert_int_equal(scene_actor(&r->scene, &r->model, 2, 200)->sum.value[MEASURE_CPU],
			 4 * NSEC);
	assert_int_equal(scene_actor(&r->scene, &r->model, 2, 100)->sum.value[MEASURE_CPU],
			 5 * NSEC);
	assert_int_equal(scene_actor(&r->scene, &r->model, 3, 100)->sum.value[MEASURE_CPU],
			 13 * NSEC);
}

static void orphan_stays_below_what_started_its_parent(void **state)
{
	struct watched *r = *state;

	take_sample(&r->model, 1, 0, 3);
	take_live(&r->model, 1, 100, 1, 0, 0);
	take_live(&r->model, 1, 200, 100, 1, 0);
	take_live(&r->model, 1, 300, 200, 1, 0);
	take_record(&r->model, 200, 100, 1, 2, 0);
	take_sample(&r->model, 2, 0, 2);
	take_live(&r->model, 2, 100, 1, 0, 0);
	take_live(&r->model, 2, 300, 1, 1, 3); /* init's now */
	assert_int_equal(scene_actor(&r->scene, &r->model, 2, 100)->sum.value[MEASURE_CPU],
			 3 * NSEC);
	assert_int_equal(scene_actor(&r->scene, &r->model, 2, 300)->parent, 0);
}

static void pid_that_is_used_again_is_another_process(void **state)
{
	struct watched *r = *state;

	take_sample(&r->model, 1, 0, 1);
	take_live(&r->model, 1, 100, 1, 0, 0);
	take_record(&r->model, 200, 100, 1, 2, 1);
	take_record(&r->model, 300, 200, 1, 2, 2);
	take_sample(&r->model, 4, 0, 2);
	take_live(&r->model, 4, 100, 1, 0, 0);
	take_live(&r->model, 4, 200, 100, 3, 0.25);
	take_record(&r->model, 400, 200, 3, 4, 8);
	assert_int_equal(scene_actor(&r->scene, &r->model, 4, 200)->sum.value[MEASURE_CPU],
			 8 * NSEC + NSEC / 4);
	assert_int_equal(scene_actor(&r->scene, &r->model, 4, 100)->sum.value[MEASURE_CPU],
			 11 * NSEC + NSEC / 4);
}

static void parent_that_is_known_later_gets_what_its_children_used(void **state)
{
	struct watched *r = *state;

	take_record(&r->model, 200, 100, 1, 2, 1);
	take_sample(&r->model, 2, 1, 1);
	assert_null(scene_actor(&r->scene, &r->model, 2, 100));
	assert_int_equal(r->scene.total.value[MEASURE_CPU], NSEC);
	take_record(&r->model, 100, 1, 0, 5, 2);
	assert_int_equal(scene_actor(&r->scene, &r->model, 2, 100)->sum.value[MEASURE_CPU], NSEC);
}

static void past_is_the_same_whenever_it_is_looked_at(void **state)
{
	struct watched *r = *state;
	uint64_t first, last;

	for (int i = 0; i < 50; i++) {
		take_sample(&r->model, i, i, 2);
		take_live(&r->model, i, 100, 1, 0, i);
		take_record(&r->model, 1000 + i, 100, i, i + 1, 0.5);
	}
	first = scene_actor(&r->scene, &r->model, 10, 100)->sum.value[MEASURE_CPU];
	assert_int_equal(first, 15 * NSEC);
	last = scene_actor(&r->scene, &r->model, 49, 100)->sum.value[MEASURE_CPU];
	assert_int_equal(last, 49 * NSEC + 49 * NSEC / 2);
	assert_int_equal(scene_actor(&r->scene, &r->model, 10, 100)->sum.value[MEASURE_CPU], first);
	assert_int_equal(scene_actor(&r->scene, &r->model, 49, 100)->sum.value[MEASURE_CPU], last);
}

static void record_that_comes_twice_counts_once(void **state)
{
	struct watched *r = *state;

	take_sample(&r->model, 1, 0, 1);
	take_record(&r->model, 200, 100, 1, 2, 1);
	take_record(&r->model, 200, 100, 1, 2, 1);
	assert_int_equal(scene_build(&r->scene, &r->model, 2 * (int64_t)NSEC), 0);
	assert_int_equal(r->scene.total.value[MEASURE_CPU], NSEC);
}

static void process_that_is_missing_in_a_feed_of_all_has_ended(void **state)
{
	struct watched *r = *state;

	for (int i = 1; i < 5; i++) {
		take_sample(&r->model, i, i, 2);
		take_live(&r->model, i, 100, 1, 0, i);
		if (i < 2)
			take_live(&r->model, i, 200, 100, 0, 0.5);
	}
	assert_non_null(scene_actor(&r->scene, &r->model, 1, 200));
	assert_null(scene_actor(&r->scene, &r->model, 4, 200));
	assert_int_equal(r->scene.total.value[MEASURE_CPU], 4 * NSEC + NSEC / 2);
}

static void processes_that_claim_to_be_each_others_parents_are_no_circle(void **state)
{
	struct watched *r = *state;

	take_sample(&r->model, 1, 0, 2);
	take_live(&r->model, 1, 100, 200, 0, 1);
	take_live(&r->model, 1, 200, 100, 0, 1);
	take_live(&r->model, 1, 300, 300, 0, 1);
	assert_int_equal(scene_build(&r->scene, &r->model, NSEC), 0);
	assert_int_equal(r->scene.total.value[MEASURE_CPU], 3 * NSEC);
}

static void long_history_is_thinned_but_reaches_back(void **state)
{
	struct watched *r = *state;

	r->model.most_points = 128;
	for (int i = 0; i < 1000; i++) {
		take_sample(&r->model, i, i, 1);
		take_live(&r->model, i, 100, 1, 0, i);
	}
	assert_true(r->model.nr_points <= 128);
	assert_int_equal(scene_actor(&r->scene, &r->model, 999, 100)->own.value[MEASURE_CPU],
			 999 * NSEC);
	assert_non_null(scene_actor(&r->scene, &r->model, 500, 100));
	assert_in_range(r->scene.actors[0].own.value[MEASURE_CPU], 400 * NSEC, 500 * NSEC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, run_make, run_free)
	const struct CMUnitTest tests[] = {
		TEST(sum_of_a_parent_is_that_of_the_records_of_its_dead_children),
		TEST(bounded_history_keeps_the_sums),
		TEST(dead_goes_to_the_nearest_ancestor_that_lives),
		TEST(orphan_stays_below_what_started_its_parent),
		TEST(pid_that_is_used_again_is_another_process),
		TEST(parent_that_is_known_later_gets_what_its_children_used),
		TEST(past_is_the_same_whenever_it_is_looked_at),
		TEST(record_that_comes_twice_counts_once),
		TEST(process_that_is_missing_in_a_feed_of_all_has_ended),
		TEST(processes_that_claim_to_be_each_others_parents_are_no_circle),
		TEST(long_history_is_thinned_but_reaches_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
