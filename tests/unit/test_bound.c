// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/peak.h"

static const struct rows nobody;

/* A process that ended at @stop has given back its memory then. */
static void end(struct memory_bound *b, uint64_t start, uint64_t stop, uint64_t pages)
{
	struct process_record r = { .serial = start,
				    .start_boot_ns = start,
				    .end_boot_ns = stop,
				    .released_boot_ns = stop,
				    .rss_bound_pages = pages };

	memory_bound_ended(b, &r);
}

static void rows_of(struct rows *r, const struct drain_row *all, size_t nr)
{
	rows_begin(r);
	for (size_t i = 0; i < nr; i++)
		rows_add(r, &all[i]);
	rows_settle(r);
}

static void interval(struct memory_bound *b, const struct rows *drain, uint64_t drain_ns)
{
	const struct drain_row *rows[8];

	assert_true(drain->nr <= 8);
	for (size_t i = 0; i < drain->nr; i++)
		rows[i] = &drain->all[i];
	memory_bound_interval(b, rows, drain->nr, drain, drain_ns);
}

static void processes_in_turn_are_not_added_up(void **state)
{
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, 30, 40, 7);
	end(&b, 10, 20, 5);
	end(&b, 21, 29, 6);
	memory_bound_drain(&b);
	interval(&b, &nobody, 50);
	assert_int_equal(b.peak_pages, 7);
	memory_bound_done(&b);
}

static void processes_at_the_same_time_are_added_up(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 1, .mm = 1, .used_mm = 1, .start_boot_ns = 5, .bound_pages = 100 },
		{ .serial = 2,
		  .used_mm = 1,
		  .flags = ROW_SHARES,
		  .start_boot_ns = 7,
		  .bound_pages = 100 },
		{ .serial = 3, .start_boot_ns = 8, .released_boot_ns = 18, .bound_pages = 10 },
	};
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	end(&b, 10, 20, 3);
	end(&b, 20, 30, 4); /* begins when another ends: together, to be safe */
	memory_bound_drain(&b);
	rows_of(&rows, all, 3);
	interval(&b, &rows, 40);
	assert_int_equal(b.peak_pages, 113);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void sharers_held_no_more_than_the_largest_of_their_marks(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 1,
		  .used_mm = 7,
		  .flags = ROW_SHARES,
		  .start_boot_ns = 7,
		  .bound_pages = 1 },
		{ .serial = 2, .used_mm = 7, .start_boot_ns = 6, .bound_pages = 60 },
		{ .serial = 3,
		  .used_mm = 7,
		  .flags = ROW_SHARES,
		  .start_boot_ns = 7,
		  .bound_pages = 2 },
	};
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	memory_bound_drain(&b);
	rows_of(&rows, all, 3);
	interval(&b, &rows, 40);
	assert_int_equal(b.peak_pages, 60);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void address_space_that_is_made_of_another_s_memory_is_another_one(void **state)
{
	struct process_record first = { .serial = 1, .start_boot_ns = 5, .released_boot_ns = 10 };
	struct process_record second = { .serial = 2, .start_boot_ns = 20, .released_boot_ns = 30 };
	struct memory_bound b = { 0 };

	(void)state;
	first.mm = second.mm = 7;
	first.rss_bound_pages = 60;
	second.rss_bound_pages = 3;
	memory_bound_ended(&b, &first);
	memory_bound_ended(&b, &second);
	end(&b, 15, 30, 8);
	memory_bound_drain(&b);
	interval(&b, &nobody, 50);
	assert_int_equal(b.peak_pages, 60);
	memory_bound_done(&b);
}

/* It held another one until its exec, while the first one held what lay there then. */
static void address_that_an_exec_uses_again_is_another_address_space(void **state)
{
	struct process_record first = { .serial = 1, .start_boot_ns = 5, .released_boot_ns = 10 };
	const struct drain_row all[] = {
		{ .serial = 2, .used_mm = 7, .start_boot_ns = 6, .bound_pages = 50 },
		{ .serial = 3, .used_mm = 7, .flags = ROW_SHARES, .bound_pages = 2 },
	};
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	first.mm = 7;
	first.rss_bound_pages = 60;
	memory_bound_ended(&b, &first);
	memory_bound_drain(&b);
	rows_of(&rows, all, 2);
	interval(&b, &rows, 40);
	assert_int_equal(b.peak_pages, 112);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void process_that_has_exited_holds_memory_until_it_is_given_back(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 1, .start_boot_ns = 5, .end_boot_ns = 10, .bound_pages = 60 },
		{ .serial = 2, .start_boot_ns = 12, .bound_pages = 50 },
	};
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	memory_bound_drain(&b);
	rows_of(&rows, all, 2);
	interval(&b, &rows, 40);
	assert_int_equal(b.peak_pages, 110);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void process_of_an_interval_before_is_over(void **state)
{
	const struct drain_row met = { .serial = 10, .start_boot_ns = 10, .bound_pages = 7 };
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	rows_of(&rows, &met, 1);
	memory_bound_drain(&b);
	interval(&b, &rows, 50);
	end(&b, 10, 45, 100); /* its record is late: it was counted when it was met */
	end(&b, 60, 70, 5);
	memory_bound_drain(&b);
	rows_of(&rows, NULL, 0);
	interval(&b, &rows, 100);
	assert_int_equal(b.peak_pages, 7);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void process_that_a_drain_missed_is_added_to_what_was_found(void **state)
{
	const struct drain_row met = { .serial = 10, .start_boot_ns = 10, .bound_pages = 7 };
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	rows_of(&rows, &met, 1);
	memory_bound_drain(&b);
	interval(&b, &rows, 50);
	end(&b, 20, 45, 100); /* the drain at 50 has not met it */
	memory_bound_drain(&b);
	rows_of(&rows, &met, 1);
	interval(&b, &rows, 100);
	assert_int_equal(b.peak_pages, 107);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void process_that_gave_back_its_memory_unseen_holds_on(void **state)
{
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, 10, 0, 4);
	end(&b, 30, 40, 5);
	memory_bound_drain(&b);
	interval(&b, &nobody, 50);
	assert_int_equal(b.peak_pages, 9);
	assert_false(b.is_unknown);
	memory_bound_done(&b);
}

static void process_that_began_before_the_clock_lives_from_the_start(void **state)
{
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, (uint64_t)-7, 0, 4); /* in a time namespace */
	end(&b, 30, 40, 5);
	memory_bound_drain(&b);
	interval(&b, &nobody, 50);
	assert_int_equal(b.peak_pages, 9);
	memory_bound_done(&b);
}

static void process_that_was_freed_during_the_drain_counts_once(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 7, .mm = 1, .start_boot_ns = 5, .bound_pages = 40 },
		{ .serial = 8, .mm = 2, .start_boot_ns = 5, .bound_pages = 1 },
	};
	struct process_record met = { .serial = 7, .start_boot_ns = 5, .released_boot_ns = 45 };
	struct process_record not_met = { .serial = 9, .start_boot_ns = 6, .released_boot_ns = 45 };
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	met.rss_bound_pages = 40;
	not_met.rss_bound_pages = 10;
	memory_bound_drain(&b);
	memory_bound_ended(&b, &met);
	memory_bound_ended(&b, &not_met);
	rows_of(&rows, all, 2);
	interval(&b, &rows, 50);
	assert_int_equal(b.peak_pages, 51);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void process_whose_record_came_early_is_held_until_its_end(void **state)
{
	const struct drain_row later = { .serial = 2, .start_boot_ns = 55, .bound_pages = 40 };
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	memory_bound_drain(&b);
	end(&b, 10, 60, 30); /* it outlived the begin of the drain at 50 */
	interval(&b, &rows, 50);
	memory_bound_drain(&b);
	rows_of(&rows, &later, 1);
	interval(&b, &rows, 100);
	assert_int_equal(b.peak_pages, 70);
	memory_bound_done(&b);
	rows_done(&rows);
}

static void mark_that_was_reset_leaves_no_bound(void **state)
{
	const struct drain_row row = { .serial = 1, .bound_pages = 1, .flags = ROW_MARK_FELL };
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	rows_of(&rows, &row, 1);
	memory_bound_drain(&b);
	interval(&b, &rows, 50);
	assert_true(b.mark_fell);
	memory_bound_done(&b);
	rows_done(&rows);
}

/* Its record came during the drain, with less than the drain had read. */
static void bound_is_no_less_than_the_sample(void **state)
{
	const struct drain_row all[] = {
		{ .serial = 1, .mm = 1, .used_mm = 1, .pages = { 6, 3 }, .bound_pages = 9 },
		{ .serial = 60, .mm = 2, .used_mm = 2, .start_boot_ns = 60, .pages = { 0, 5, 9 } },
	};
	struct memory_bound b = { 0 };
	struct rows rows = { 0 };

	(void)state;
	memory_bound_drain(&b);
	end(&b, 1, 55, 8);
	rows_of(&rows, all, 2);
	interval(&b, &rows, 50);
	assert_int_equal(b.peak_pages, 6 + 3 + 5);
	memory_bound_done(&b);
	rows_done(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_in_turn_are_not_added_up),
		cmocka_unit_test(processes_at_the_same_time_are_added_up),
		cmocka_unit_test(sharers_held_no_more_than_the_largest_of_their_marks),
		cmocka_unit_test(address_space_that_is_made_of_another_s_memory_is_another_one),
		cmocka_unit_test(address_that_an_exec_uses_again_is_another_address_space),
		cmocka_unit_test(process_that_has_exited_holds_memory_until_it_is_given_back),
		cmocka_unit_test(process_of_an_interval_before_is_over),
		cmocka_unit_test(process_that_a_drain_missed_is_added_to_what_was_found),
		cmocka_unit_test(process_that_gave_back_its_memory_unseen_holds_on),
		cmocka_unit_test(process_that_began_before_the_clock_lives_from_the_start),
		cmocka_unit_test(process_that_was_freed_during_the_drain_counts_once),
		cmocka_unit_test(process_whose_record_came_early_is_held_until_its_end),
		cmocka_unit_test(bound_is_no_less_than_the_sample),
		cmocka_unit_test(mark_that_was_reset_leaves_no_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
