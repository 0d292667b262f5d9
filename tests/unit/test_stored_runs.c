// SPDX-License-Identifier: BSD-2-Clause
/* Of a run that several stores have, one copy is left. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "store/query.h"

static void add(struct stored_runs *all, const char *uuid, size_t source, enum run_state state)
{
	struct stored_run r = { .uuid = strdup(uuid), .source = source, .state = state };

	assert_int_equal(stored_runs_append(all, &r), 0);
}

static void assert_left(struct stored_runs *all, size_t i, const char *uuid, size_t source)
{
	assert_in_range(i, 0, all->nr - 1);
	assert_string_equal(all->runs[i].uuid, uuid);
	assert_int_equal(all->runs[i].source, source);
}

static void finished_copy_is_kept_then_the_one_that_goes_on_then_the_first(void **state)
{
	struct stored_runs all = { 0 };

	(void)state;
	add(&all, "b", 0, RUN_UNFINISHED);
	add(&all, "c", 0, RUN_UNFINISHED);
	add(&all, "a", 1, RUN_FINISHED);
	add(&all, "d", 1, RUN_FINISHED);
	add(&all, "a", 0, RUN_FINISHED);
	add(&all, "b", 1, RUN_RUNNING);
	add(&all, "b", 2, RUN_FINISHED);
	add(&all, "c", 1, RUN_RUNNING);
	assert_int_equal(stored_runs_unique(&all), 0);
	assert_int_equal(all.nr, 4);
	assert_left(&all, 0, "d", 1);
	assert_left(&all, 1, "a", 0);
	assert_left(&all, 2, "b", 2);
	assert_left(&all, 3, "c", 1);
	stored_runs_done(&all);
}

static void of_equal_copies_the_one_that_was_edited_last_is_kept(void **state)
{
	struct stored_runs all = { 0 };

	(void)state;
	add(&all, "a", 0, RUN_FINISHED);
	add(&all, "a", 1, RUN_FINISHED);
	add(&all, "a", 2, RUN_FINISHED);
	add(&all, "a", 3, RUN_RUNNING);
	all.runs[0].edited_ns = 5;
	all.runs[1].edited_ns = 7;
	all.runs[3].edited_ns = 9;
	assert_int_equal(stored_runs_unique(&all), 0);
	assert_int_equal(all.nr, 1);
	assert_left(&all, 0, "a", 1);
	stored_runs_done(&all);
}

static void state_is_that_of_the_copy_that_is_left(void **state)
{
	struct stored_runs all = { 0 };

	(void)state;
	add(&all, "a", 0, RUN_UNFINISHED);
	add(&all, "a", 1, RUN_FINISHED);
	assert_int_equal(stored_runs_unique(&all), 0);
	assert_int_equal(stored_runs_select(&all, ONLY_UNFINISHED), 0);
	assert_int_equal(all.nr, 0);
	stored_runs_done(&all);
}

static void no_run_is_no_copy(void **state)
{
	struct stored_runs all = { 0 };

	(void)state;
	assert_int_equal(stored_runs_unique(&all), 0);
	assert_int_equal(stored_runs_select(&all, ONLY_FAILED), 0);
	assert_int_equal(all.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finished_copy_is_kept_then_the_one_that_goes_on_then_the_first),
		cmocka_unit_test(of_equal_copies_the_one_that_was_edited_last_is_kept),
		cmocka_unit_test(state_is_that_of_the_copy_that_is_left),
		cmocka_unit_test(no_run_is_no_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
