// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/task_rows.h"

static void drain(struct rows *r, const struct drain_row *all, size_t nr)
{
	rows_begin(r);
	for (size_t i = 0; i < nr; i++)
		rows_add(r, &all[i]);
	rows_settle(r);
}

static bool always(void *context, const struct met *m)
{
	(void)context, (void)m;
	return true;
}

static bool never(void *context, const struct met *m)
{
	(void)context, (void)m;
	return false;
}

static void of_two_rows_of_a_process_the_one_with_memory_is_kept(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 5, .flags = ROW_ALIVE },
		{ .serial = 4, .flags = ROW_ALIVE, .mm = 9 },
		{ .serial = 5, .flags = ROW_ALIVE, .mm = 8 },
	};
	struct rows r = { 0 };

	(void)state;
	drain(&r, all, 3);
	assert_int_equal(r.nr, 2);
	assert_int_equal(rows_find(&r, 4)->mm, 9);
	assert_int_equal(rows_find(&r, 5)->mm, 8);
	assert_null(rows_find(&r, 6));
	assert_int_equal(rows_unread(&r, always, NULL), 0);
	rows_done(&r);
}

static void rows_are_in_slices_by_account_and_in_these_by_address_space(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 1, .pid = 1, .account = { 9, 0 }, .mm = 30, .start_boot_ns = 20 },
		{ .serial = 2, .pid = 2, .account = { 8, 1 }, .mm = 40, .start_boot_ns = 20 },
		{ .serial = 3, .pid = 3, .account = { 9, 0 }, .mm = 10, .start_boot_ns = 20 },
		{ .serial = 4, .pid = 4, .account = { 8, 0 }, .mm = 40, .start_boot_ns = 20 },
		{ .serial = 5, .pid = 5, .account = { 9, 0 }, .mm = 30, .start_boot_ns = 10 },
	};
	const unsigned pids[] = { 4, 2, 3, 5, 1 };
	struct rows r = { 0 };

	(void)state;
	drain(&r, all, 5);
	rows_sort(&r);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(r.by_memory[i]->pid, pids[i]);
	assert_int_equal(r.nr_slices, 3);
	assert_int_equal(r.slices[1].account.cgroup, 1);
	assert_int_equal(r.slices[2].account.tree, 9);
	assert_int_equal(r.slices[2].nr, 3);
	assert_ptr_equal(r.slices[2].rows, &r.by_memory[2]);
	assert_int_equal(rows_find(&r, 3)->pid, 3); /* the order by process stands beside it */
	drain(&r, all, 0);
	rows_sort(&r);
	assert_int_equal(r.nr_slices, 0);
	rows_done(&r);
}

static void live_process_without_memory_is_unread(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 5, .flags = ROW_ALIVE },
		{ .serial = 6 }, /* one that has exited has none */
	};
	struct rows r = { 0 };

	(void)state;
	drain(&r, all, 2);
	assert_int_equal(r.nr_blank, 1);
	assert_int_equal(rows_unread(&r, always, NULL), 1);
	assert_int_equal(rows_unread(&r, never, NULL), 0);
	rows_done(&r);
}

static void live_process_that_is_not_met_again_is_unread(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 5, .flags = ROW_ALIVE, .mm = 1 },
		{ .serial = 6, .mm = 2 },
		{ .serial = 7, .flags = ROW_ALIVE, .mm = 3 },
	};
	struct rows r = { 0 };

	(void)state;
	drain(&r, all, 3);
	drain(&r, all, 1);
	assert_int_equal(rows_unread(&r, always, NULL), 1);
	assert_int_equal(rows_unread(&r, never, NULL), 0);
	assert_true(rows_met_before(&r, 7));
	assert_false(rows_met_before(&r, 8));
	rows_done(&r);
}

static void a_row_that_a_second_pass_adds_is_found(void **state)
{
	const struct drain_row blank = { .serial = 5, .flags = ROW_ALIVE };
	const struct drain_row whole = { .serial = 5, .flags = ROW_ALIVE, .mm = 1 };
	struct rows r = { 0 };

	(void)state;
	drain(&r, &blank, 1);
	rows_add(&r, &whole);
	rows_settle(&r);
	assert_int_equal(r.nr, 1);
	assert_int_equal(r.nr_blank, 0);
	rows_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_rows_of_a_process_the_one_with_memory_is_kept),
		cmocka_unit_test(rows_are_in_slices_by_account_and_in_these_by_address_space),
		cmocka_unit_test(live_process_without_memory_is_unread),
		cmocka_unit_test(live_process_that_is_not_met_again_is_unread),
		cmocka_unit_test(a_row_that_a_second_pass_adds_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
