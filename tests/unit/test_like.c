// SPDX-License-Identifier: BSD-2-Clause
/* Which known runs a run is like: distances, what is near, absent figures. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/like_answer.h"

#include <math.h>
#include <string.h>

#define NEAR 1e-5
#define assert_near(a, b) assert_true(fabs((a) - (b)) <= NEAR)

/* With two dimensions. */
static struct signature signed_as(int32_t user, int32_t execs)
{
	struct signature g = { 0 };

	g.milli[SIGNATURE_user_share] = user;
	g.milli[SIGNATURE_execs] = execs;
	g.has[SIGNATURE_user_share] = g.has[SIGNATURE_execs] = true;
	return g;
}

static struct signature with_programs(const char *text)
{
	struct signature g = signed_as(500, 1000);

	signature_parse_programs(&g, text);
	return g;
}

/* Four runs of each of two kinds, 10 thousandths from each other. */
static void known_fill(struct known_runs *k)
{
	for (int i = 0; i < 4; i++) {
		struct signature fast = signed_as(900 + 10 * i, 1000);
		struct signature slow = signed_as(100 + 10 * i, 1000);

		assert_int_equal(known_add(k, 2 * (size_t)i, "slow", &slow), 0);
		assert_int_equal(known_add(k, 2 * (size_t)i + 1, "fast", &fast), 0);
	}
	known_sort(k);
}

static const struct like_scale unit_scale = {
	.scale = { [SIGNATURE_user_share] = 100, [SIGNATURE_execs] = 200 },
	.weight = { [SIGNATURE_user_share] = 1, [SIGNATURE_execs] = 3 },
	.programs = 4,
};

static void distance_is_the_weighted_mean_of_differences_in_scales(void **state)
{
	struct signature a = signed_as(500, 1000), b = signed_as(600, 1400);

	(void)state;
	assert_near(like_distance(&unit_scale, &a, &a), 0);
	assert_near(like_distance(&unit_scale, &a, &b), (1 * 1 + 3 * 2) / 4.);
	assert_near(like_distance(&unit_scale, &b, &a), (1 * 1 + 3 * 2) / 4.);
}

static void no_dimension_counts_for_more_than_three_scales(void **state)
{
	struct signature a = signed_as(0, 1000), b = signed_as(1000000, 1000);

	(void)state;
	assert_near(like_distance(&unit_scale, &a, &b), 3 / 4.);
}

static void absent_figures_are_left_out_on_either_side(void **state)
{
	struct signature a = signed_as(500, 1000), b = signed_as(600, 5000);

	(void)state;
	b.has[SIGNATURE_execs] = false;
	assert_near(like_distance(&unit_scale, &a, &b), 1);
	assert_near(like_distance(&unit_scale, &b, &a), 1);
	b.has[SIGNATURE_user_share] = false;
	assert_true(isinf(like_distance(&unit_scale, &a, &b)));
}

static void programs_of_one_side_alone_are_absent(void **state)
{
	struct signature a = with_programs("1000 cc"), b = signed_as(500, 1000);

	(void)state;
	assert_near(like_distance(&unit_scale, &a, &b), 0);
	b = with_programs("1000 ld");
	assert_near(like_distance(&unit_scale, &a, &b), 4 * 3 / 8.);
}

static void programs_are_compared_by_their_shares(void **state)
{
	struct signature a = with_programs("750 cc/250 as"), b = with_programs("500 as/500 cc");
	struct signature other = with_programs("1000 perl");

	(void)state;
	assert_near(like_programs_distance(&a, &a), 0);
	assert_near(like_programs_distance(&a, &b), 1 - 750 / 1250.);
	assert_near(like_programs_distance(&a, &other), 1);
}

static void programs_are_left_out_where_they_are_not_to_count(void **state)
{
	struct signature a = with_programs("1000 cc"), b = with_programs("1000 ld");
	struct like_scale s = unit_scale;

	(void)state;
	s.programs = 0;
	assert_near(like_distance(&s, &a, &b), 0);
}

static void scale_is_that_of_all_runs_and_weight_of_how_little_a_kind_differs(void **state)
{
	struct known_runs k = { 0 };
	struct like_scale s;

	(void)state;
	known_fill(&k);
	assert_int_equal(like_scale_make(&s, &k, true), 0);
	/* 100 to 130 and 900 to 930: the median is 515, they are 385 to 415 from it */
	assert_near((double)s.scale[SIGNATURE_user_share] / 400, 1.4826);
	assert_near((double)s.scale[SIGNATURE_execs], 100); /* all equal: the least */
	assert_near((double)s.weight[SIGNATURE_minflt], 1); /* none has it */
	assert_true(s.weight[SIGNATURE_user_share] > s.weight[SIGNATURE_execs]);
	known_done(&k);
}

static struct like_answer answer_for(struct known_runs *k, const struct signature *g, size_t most)
{
	struct like_answer a;
	struct like_scale s;

	assert_int_equal(like_scale_make(&s, k, true), 0);
	assert_int_equal(like_answer_make(&a, &s, k, g, most), 0);
	return a;
}

static void run_of_a_kind_is_near_and_its_neighbours_vote_for_it(void **state)
{
	struct signature g = signed_as(915, 1000);
	struct known_runs k = { 0 };
	struct like_answer a;

	(void)state;
	known_fill(&k);
	a = answer_for(&k, &g, 5);
	assert_true(a.is_near && a.has_threshold);
	assert_int_equal(a.nr_threshold, 8);
	assert_string_equal(a.kind, "fast");
	assert_int_equal(a.agreeing, 4);
	assert_int_equal(a.nr, 5);
	assert_true(a.list[0].distance <= a.list[4].distance);
	assert_string_equal(k.list[a.list[4].at].kind, "slow");
	known_done(&k);
}

static void runs_of_the_same_command_line_come_first(void **state)
{
	struct signature g = signed_as(915, 1000);
	struct known_runs k = { 0 };
	struct like_answer a;

	(void)state;
	known_fill(&k);
	for (size_t i = 0; i < k.nr; i++)
		k.list[i].is_same = k.list[i].of == 0 || k.list[i].of == 6; /* both slow */
	a = answer_for(&k, &g, 3);
	assert_int_equal(a.nr, 3);
	assert_int_equal(a.nr_same, 2);
	assert_int_equal(k.list[a.list[0].at].of, 6);
	assert_int_equal(k.list[a.list[1].at].of, 0);
	assert_true(a.list[0].distance < a.list[1].distance);
	assert_string_equal(k.list[a.list[2].at].kind, "fast");
	assert_int_equal(a.nearest.at, a.list[2].at);
	assert_true(a.is_near);
	a = answer_for(&k, &g, 1);
	assert_int_equal(k.list[a.list[0].at].of, 6);
	assert_string_equal(k.list[a.nearest.at].kind, "fast");
	known_done(&k);
}

static void what_is_farther_than_runs_of_one_kind_is_unknown(void **state)
{
	struct signature g = signed_as(500, 1000);
	struct known_runs k = { 0 };
	struct like_answer a;

	(void)state;
	known_fill(&k);
	a = answer_for(&k, &g, 5);
	assert_true(a.has_threshold);
	assert_false(a.is_near);
	known_done(&k);
}

static void nearer_neighbours_outvote_more_that_are_farther(void **state)
{
	struct signature near = signed_as(500, 1000), far = signed_as(900, 3000);
	struct known_runs k = { 0 };
	struct like_answer a;

	(void)state;
	assert_int_equal(known_add(&k, 0, "one", &near), 0);
	assert_int_equal(known_add(&k, 1, "two", &far), 0);
	assert_int_equal(known_add(&k, 2, "two", &far), 0);
	known_sort(&k);
	a = answer_for(&k, &near, 3);
	assert_string_equal(a.kind, "one");
	assert_int_equal(a.agreeing, 1);
	known_done(&k);
}

static void without_two_runs_of_a_kind_nothing_says_what_is_near(void **state)
{
	struct signature g = signed_as(500, 1000);
	struct known_runs k = { 0 };
	struct like_answer a;

	(void)state;
	assert_int_equal(known_add(&k, 0, "one", &g), 0);
	assert_int_equal(known_add(&k, 1, "two", &g), 0);
	known_sort(&k);
	a = answer_for(&k, &g, 5);
	assert_int_equal(a.nr, 2);
	assert_false(a.has_threshold);
	assert_false(a.is_near);
	known_done(&k);
}

static void run_with_nothing_in_common_has_no_neighbours(void **state)
{
	struct signature g = { 0 };
	struct known_runs k = { 0 };
	struct like_answer a;

	(void)state;
	known_fill(&k);
	a = answer_for(&k, &g, 5);
	assert_int_equal(a.nr, 0);
	assert_null(a.kind);
	known_done(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distance_is_the_weighted_mean_of_differences_in_scales),
		cmocka_unit_test(no_dimension_counts_for_more_than_three_scales),
		cmocka_unit_test(absent_figures_are_left_out_on_either_side),
		cmocka_unit_test(programs_of_one_side_alone_are_absent),
		cmocka_unit_test(programs_are_compared_by_their_shares),
		cmocka_unit_test(programs_are_left_out_where_they_are_not_to_count),
		cmocka_unit_test(scale_is_that_of_all_runs_and_weight_of_how_little_a_kind_differs),
		cmocka_unit_test(run_of_a_kind_is_near_and_its_neighbours_vote_for_it),
		cmocka_unit_test(runs_of_the_same_command_line_come_first),
		cmocka_unit_test(what_is_farther_than_runs_of_one_kind_is_unknown),
		cmocka_unit_test(nearer_neighbours_outvote_more_that_are_farther),
		cmocka_unit_test(without_two_runs_of_a_kind_nothing_says_what_is_near),
		cmocka_unit_test(run_with_nothing_in_common_has_no_neighbours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
