// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/memory.h"

#include <unistd.h>

#define PAGE ((uint64_t)sysconf(_SC_PAGESIZE))

static struct metric_set all(void)
{
	struct metric_set set;

	metric_set_all(&set);
	return set;
}

static void address_space_that_is_shared_counts_once(void **state)
{
	struct drain_row rows[] = {
		{ .mm = 7, .pages = { [RSS_ANON] = 10, [RSS_FILE] = 1 }, .vms_pages = 100 },
		{ .mm = 3, .pages = { [RSS_SHMEM] = 5, [RSS_SWAP] = 2 }, .page_table_bytes = 8 },
		{ .mm = 7, .pages = { [RSS_ANON] = 10, [RSS_FILE] = 1 }, .vms_pages = 100 },
	};
	struct metric_set usable = all();
	struct sample s = { 0 };

	(void)state;
	memory_sum(rows, 3, &usable, &s);
	assert_int_equal(s.value[M_rss], 16 * PAGE);
	assert_int_equal(s.value[M_rss_anon], 10 * PAGE);
	assert_int_equal(s.value[M_rss_file], 1 * PAGE);
	assert_int_equal(s.value[M_rss_shmem], 5 * PAGE);
	assert_int_equal(s.value[M_swap], 2 * PAGE);
	assert_int_equal(s.value[M_vms], 100 * PAGE);
	assert_int_equal(s.value[M_page_tables], 8);
}

static void metric_that_is_not_usable_stays_absent(void **state)
{
	struct metric_set usable = { 0 };
	struct sample s = { 0 };

	(void)state;
	metric_put(&usable, M_rss);
	memory_sum(NULL, 0, &usable, &s);
	assert_true(sample_has(&s, M_rss));
	assert_false(sample_has(&s, M_swap));
}

static void end(struct memory_bound *b, uint64_t start, uint64_t stop, uint64_t pages)
{
	struct process_record r = { .start_boot_ns = start,
				    .end_boot_ns = stop,
				    .rss_bound_pages = pages };

	memory_bound_ended(b, &r);
}

static void processes_in_turn_are_not_added_up(void **state)
{
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, 30, 40, 7);
	end(&b, 10, 20, 5);
	end(&b, 21, 29, 6);
	memory_bound_drain(&b);
	memory_bound_interval(&b, NULL, 0, 50);
	assert_int_equal(b.peak_pages, 7);
	memory_bound_done(&b);
}

static void processes_at_the_same_time_are_added_up(void **state)
{
	struct drain_row rows[] = {
		{ .mm = 1, .start_boot_ns = 5, .bound_pages = 100 },
		{ .mm = 1, .start_boot_ns = 6, .bound_pages = 100 }, /* shares it */
		{ .start_boot_ns = 8, .end_boot_ns = 18, .bound_pages = 10 },
	};
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, 10, 20, 3);
	end(&b, 20, 30, 4); /* begins when another ends: together, to be safe */
	memory_bound_drain(&b);
	memory_bound_interval(&b, rows, 3, 40);
	assert_int_equal(b.peak_pages, 113);
	memory_bound_done(&b);
}

static void process_of_an_interval_before_is_over(void **state)
{
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, 10, 20, 8);
	memory_bound_drain(&b);
	memory_bound_interval(&b, NULL, 0, 50);
	end(&b, 10, 45, 100); /* its record is late: it was counted when it was met */
	end(&b, 30, 60, 5);
	memory_bound_drain(&b);
	memory_bound_interval(&b, NULL, 0, 100);
	assert_int_equal(b.peak_pages, 8);
	memory_bound_done(&b);
}

static void process_whose_end_was_not_seen_lives_on(void **state)
{
	struct memory_bound b = { 0 };

	(void)state;
	end(&b, 10, 0, 4);
	end(&b, 30, 40, 5);
	memory_bound_drain(&b);
	memory_bound_interval(&b, NULL, 0, 50);
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
	memory_bound_interval(&b, NULL, 0, 50);
	assert_int_equal(b.peak_pages, 9);
	memory_bound_done(&b);
}

static void process_that_was_freed_during_the_drain_counts_once(void **state)
{
	struct drain_row rows[] = {
		{ .serial = 7, .mm = 1, .start_boot_ns = 5, .bound_pages = 40 },
		{ .serial = 8, .mm = 2, .start_boot_ns = 5, .bound_pages = 1 },
	};
	struct process_record met = { .serial = 7, .start_boot_ns = 5, .end_boot_ns = 45 };
	struct process_record not_met = { .serial = 9, .start_boot_ns = 6, .end_boot_ns = 45 };
	struct memory_bound b = { 0 };

	(void)state;
	met.rss_bound_pages = 40;
	not_met.rss_bound_pages = 10;
	memory_bound_drain(&b);
	memory_bound_ended(&b, &met);
	memory_bound_ended(&b, &not_met);
	memory_bound_interval(&b, rows, 2, 50);
	assert_int_equal(b.peak_pages, 51);
	memory_bound_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_space_that_is_shared_counts_once),
		cmocka_unit_test(metric_that_is_not_usable_stays_absent),
		cmocka_unit_test(processes_in_turn_are_not_added_up),
		cmocka_unit_test(processes_at_the_same_time_are_added_up),
		cmocka_unit_test(process_of_an_interval_before_is_over),
		cmocka_unit_test(process_whose_end_was_not_seen_lives_on),
		cmocka_unit_test(process_that_began_before_the_clock_lives_from_the_start),
		cmocka_unit_test(process_that_was_freed_during_the_drain_counts_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
