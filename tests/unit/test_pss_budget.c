// SPDX-License-Identifier: BSD-2-Clause
/* How PSS is read within a budget: which process is next, which are put off or skipped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pss_fixture.h"

static void budget_is_kept_over_many_samples(void **state)
{
	struct fixture *f = *state;

	for (pid_t pid = 1; pid <= 200; pid++)
		add(f, pid, (uint64_t)pid * 100);
	add(f, 201, PAGES_OF_4_GIB);
	tick(f, 3000);
	assert_budget_kept(f);
	/* and used: no more than what may be saved up is left */
	assert_true(f->pss.cost.ns_total >= 3000 * TICK_NS / 1000000 * TWO_PERCENT * 9 / 10);
}

static void large_one_is_read_at_a_lower_rate(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	add(f, 2, PAGES_OF_4_GIB);
	tick(f, 1000);
	assert_budget_kept(f);
	/* 105 ms each, of 2 ms that come in at each sample, less 0.13 ms for the small one */
	assert_in_range(reads_of(f, 2), 15, 19);
	assert_in_range(reads_of(f, 1), 900, 1000);
}

static void small_ones_do_not_starve_a_large_one(void **state)
{
	struct fixture *f = *state;

	for (pid_t pid = 1; pid <= 300; pid++)
		add(f, pid, 1000); /* 39 ms in all, at each sample */
	add(f, 301, PAGES_OF_4_GIB);
	tick(f, 3000);
	assert_budget_kept(f);
	/* each third of the reads in turn, the large one with half of what comes in */
	assert_in_range(reads_of(f, 301), 10, 60);
	for (pid_t pid = 1; pid <= 300; pid++)
		assert_in_range(reads_of(f, pid), 50, 200);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
}

static void large_ones_take_turns(void **state)
{
	struct fixture *f = *state;

	for (pid_t pid = 1; pid <= 8; pid++)
		add(f, pid, PAGES_OF_4_GIB / 2 + (uint64_t)pid);
	tick(f, 4000);
	assert_budget_kept(f);
	for (pid_t pid = 1; pid <= 8; pid++)
		assert_in_range(reads_of(f, pid), 16, 20);
}

static void one_that_would_stall_too_long_is_skipped_and_reported_once(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	add(f, 2, PAGES_OF_4_GIB * 8ULL);
	tick(f, 1000);
	assert_int_equal(reads_of(f, 2), 0);
	assert_int_equal(f->nr_skips, 1);
	assert_int_equal(f->skips[0], 2);
	assert_string_equal(f->reason,
			    "reading it would take 0.819 s, but --pss allows 0.600 s at a time");
	assert_int_equal(f->pss.cost.skipped, 1);
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	assert_int_equal(f->smp.value[M_pss], 1000 * 2048);
	assert_in_range(reads_of(f, 1), 900, 1000);
}

static void one_that_was_skipped_is_read_when_it_has_shrunk(void **state)
{
	struct fixture *f = *state;

	add(f, 1, PAGES_OF_4_GIB * 8ULL);
	tick(f, 10);
	f->rows[0].pages[RSS_ANON] = 1000;
	tick(f, 1);
	assert_int_equal(reads_of(f, 1), 1);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
}

static void one_that_has_grown_too_large_is_unread_again(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	tick(f, 2);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
	f->rows[0].pages[RSS_ANON] = PAGES_OF_4_GIB * 8ULL;
	tick(f, 1);
	assert_int_equal(f->nr_skips, 1);
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	assert_false(sample_has(&f->smp, M_pss));
}

static void one_without_permission_is_reported_once_and_not_read_again(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	f->fails_pid = 1;
	f->fails_with = -EACCES;
	tick(f, 10);
	assert_int_equal(f->nr_reads, 1);
	assert_int_equal(f->nr_skips, 1);
	assert_string_equal(f->reason, strerror(EACCES));
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	assert_int_equal(f->pss.cost.ns_total, 130000);
}

static void one_that_ends_while_it_is_read_is_neither_read_nor_unread(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	f->fails_pid = 1;
	f->fails_with = -ESRCH;
	tick(f, 2);
	assert_int_equal(f->nr_skips, 0);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
	assert_int_equal(f->smp.value[M_pss], 0);
}

static void cost_that_was_measured_sets_the_rate(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 100000);
	tick(f, 8);
	assert_int_equal(reads_of(f, 1), 1);
	f->pss.spaces[0].cost_ns = 300 * NSEC_PER_MSEC; /* it took so long */
	tick(f, 100);
	assert_int_equal(reads_of(f, 1), 1);
	assert_true(f->pss.cost.postponed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PSS_TEST(budget_is_kept_over_many_samples),
		PSS_TEST(large_one_is_read_at_a_lower_rate),
		PSS_TEST(small_ones_do_not_starve_a_large_one),
		PSS_TEST(large_ones_take_turns),
		PSS_TEST(one_that_would_stall_too_long_is_skipped_and_reported_once),
		PSS_TEST(one_that_was_skipped_is_read_when_it_has_shrunk),
		PSS_TEST(one_that_has_grown_too_large_is_unread_again),
		PSS_TEST(one_without_permission_is_reported_once_and_not_read_again),
		PSS_TEST(one_that_ends_while_it_is_read_is_neither_read_nor_unread),
		PSS_TEST(cost_that_was_measured_sets_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
