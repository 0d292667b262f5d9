// SPDX-License-Identifier: BSD-2-Clause
#include "measure/born.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

#define MANY 1000
#define CODE(n) ((uint32_t)(n) << 8) /* as wait(2) has it */

static void those_that_are_left_are_found_after_others_were_removed(void **state)
{
	struct born_set set = { 0 };

	(void)state;
	assert_null(born_find(&set, 1));
	for (pid_t pid = 1; pid <= MANY; pid++)
		assert_int_equal(born_add(&set, pid)->pid, pid);
	for (pid_t pid = 1; pid <= MANY; pid += 3)
		born_remove(&set, pid);
	born_remove(&set, MANY + 1);
	assert_int_equal(set.nr, MANY - (MANY + 2) / 3);
	for (pid_t pid = 1; pid <= MANY; pid++)
		assert_int_equal(born_find(&set, pid) != NULL, pid % 3 != 1);
	born_done(&set);
	assert_null(born_find(&set, 2));
}

static void status_is_that_of_the_only_thread(void **state)
{
	struct born b = { .threads = 1 };
	uint32_t status;

	(void)state;
	assert_false(born_status(&b, &status));
	born_note_exit(&b, true, CODE(7));
	assert_true(born_status(&b, &status));
	assert_int_equal(status, CODE(7));
}

static void status_is_that_of_all_threads_that_end_together(void **state)
{
	struct born b = { .threads = 3 };
	uint32_t status;

	(void)state;
	born_note_exit(&b, false, 0); /* it ends earlier, by itself */
	born_note_exit(&b, true, SIGTERM);
	born_note_exit(&b, false, SIGTERM);
	assert_true(born_status(&b, &status));
	assert_int_equal(status, SIGTERM);
}

static void status_is_that_of_what_has_outlived_the_first_thread(void **state)
{
	struct born b = { .threads = 2 };
	uint32_t status;

	(void)state;
	born_note_exit(&b, true, 0);
	born_note_exit(&b, false, CODE(5));
	assert_true(born_status(&b, &status));
	assert_int_equal(status, CODE(5));
}

static void status_is_not_sure_if_threads_end_in_different_ways(void **state)
{
	struct born first = { .threads = 2 }, others = { .threads = 3 };
	uint32_t status;

	(void)state;
	born_note_exit(&first, true, CODE(3));
	born_note_exit(&first, false, 0);
	assert_false(born_status(&first, &status));
	born_note_exit(&others, true, 0);
	born_note_exit(&others, false, CODE(5));
	born_note_exit(&others, false, 0);
	assert_false(born_status(&others, &status));
}

static void threads_that_an_exec_has_killed_do_not_count(void **state)
{
	struct born b = { .threads = 3 };
	uint32_t status;

	(void)state;
	born_note_exit(&b, true, SIGKILL);
	b.threads--;
	born_note_exec(&b);
	born_note_exit(&b, false, SIGKILL);
	born_note_exit(&b, true, CODE(9));
	assert_true(born_status(&b, &status));
	assert_int_equal(status, CODE(9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_that_are_left_are_found_after_others_were_removed),
		cmocka_unit_test(status_is_that_of_the_only_thread),
		cmocka_unit_test(status_is_that_of_all_threads_that_end_together),
		cmocka_unit_test(status_is_that_of_what_has_outlived_the_first_thread),
		cmocka_unit_test(status_is_not_sure_if_threads_end_in_different_ways),
		cmocka_unit_test(threads_that_an_exec_has_killed_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
