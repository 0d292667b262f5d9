// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/smaps.h"
#include "collect/pss.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_READS 100000
#define TWO_PERCENT 20000
#define TICK_NS (100 * NSEC_PER_MSEC)
#define PAGES_OF_4_GIB (1U << 20)

/* A /proc in which a read takes 100 ns a page and PSS is half of what is resident. */
struct fixture {
	struct pss pss;
	struct drain_row rows[400];
	size_t nr_rows;
	uint64_t now_ns, fails_pid;
	int fails_with;
	pid_t reads[MAX_READS], skips[8];
	size_t nr_reads, nr_skips;
	char reason[128];
	struct sample smp;
};

static uint64_t pages_of(const struct fixture *f, pid_t pid)
{
	for (size_t i = 0; i < f->nr_rows; i++)
		if (f->rows[i].pid == (__u32)pid)
			return f->rows[i].pages[RSS_ANON];
	return 0;
}

static int fake_read(void *context, pid_t pid, uint64_t expected_ns, struct pss_reading *r)
{
	struct fixture *f = context;
	uint64_t pages = pages_of(f, pid);

	(void)expected_ns;
	if (f->nr_reads < MAX_READS)
		f->reads[f->nr_reads++] = pid;
	*r = (struct pss_reading){ pages * 2048, pages * 1024, 30000 + pages * 100 };
	return f->fails_pid == (uint64_t)pid ? f->fails_with : 0;
}

static void note_skip(void *context, pid_t pid, const char *reason)
{
	struct fixture *f = context;

	if (f->nr_skips < 8)
		f->skips[f->nr_skips++] = pid;
	snprintf(f->reason, sizeof(f->reason), "%s", reason);
}

static int make(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	pss_init(&f->pss, TWO_PERCENT, TICK_NS);
	f->pss.read = fake_read;
	f->pss.skipped = note_skip;
	f->pss.context = f;
	f->now_ns = NSEC_PER_SEC;
	*state = f;
	return 0;
}

static int unmake(void **state)
{
	struct fixture *f = *state;

	pss_done(&f->pss);
	free(f);
	return 0;
}

/* In the order of their address spaces, as memory_sum() leaves them. */
static struct drain_row *add_row(struct fixture *f, pid_t pid, uint64_t mm, uint64_t pages)
{
	struct drain_row *r = &f->rows[f->nr_rows++];

	*r = (struct drain_row){ .serial = (uint64_t)pid, .image = 1, .mm = mm, .pid = (__u32)pid };
	r->start_boot_ns = (uint64_t)pid;
	r->pages[RSS_ANON] = pages;
	return r;
}

static void add(struct fixture *f, pid_t pid, uint64_t pages)
{
	add_row(f, pid, (uint64_t)pid * 64, pages);
}

static void tick(struct fixture *f, unsigned times)
{
	struct metric_set all;

	metric_set_all(&all);
	for (; times; times--) {
		sample_reset(&f->smp);
		assert_int_equal(pss_sample(&f->pss, f->rows, f->nr_rows, f->now_ns, &all, &f->smp),
				 0);
		f->now_ns += TICK_NS;
	}
}

static size_t reads_of(const struct fixture *f, pid_t pid)
{
	size_t n = 0;

	for (size_t i = 0; i < f->nr_reads; i++)
		n += f->reads[i] == pid;
	return n;
}

static void assert_budget_kept(const struct fixture *f)
{
	uint64_t passed_ns = f->now_ns - NSEC_PER_SEC;

	assert_true(f->pss.cost.ns_total <= passed_ns / 1000000 * TWO_PERCENT);
}

static void largest_is_read_first(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 100);
	add(f, 2, 3000);
	add(f, 3, 700);
	tick(f, 2);
	assert_int_equal(f->nr_reads, 3);
	assert_int_equal(f->reads[0], 2);
	assert_int_equal(f->reads[1], 3);
	assert_int_equal(f->reads[2], 1);
}

static void sums_are_of_all_that_were_read(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 100);
	add(f, 2, 300);
	tick(f, 2);
	assert_int_equal(f->smp.value[M_pss], 400 * 2048);
	assert_int_equal(f->smp.value[M_uss], 400 * 1024);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
	assert_true(sample_has(&f->smp, M_pss_unread));
}

static void nothing_is_read_before_any_time_has_passed(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 100);
	tick(f, 1);
	assert_int_equal(f->nr_reads, 0);
	assert_false(sample_has(&f->smp, M_pss));
	assert_false(sample_has(&f->smp, M_uss));
	assert_int_equal(f->smp.value[M_pss_unread], 1);
}

static void tree_without_processes_has_none(void **state)
{
	struct fixture *f = *state;

	tick(f, 1);
	assert_true(sample_has(&f->smp, M_pss));
	assert_int_equal(f->smp.value[M_pss], 0);
}

static void only_what_is_usable_is_set(void **state)
{
	struct fixture *f = *state;
	struct metric_set uss = { 0 };
	struct sample smp = { 0 };

	metric_put(&uss, M_uss);
	assert_int_equal(pss_sample(&f->pss, NULL, 0, f->now_ns, &uss, &smp), 0);
	assert_true(sample_has(&smp, M_uss));
	assert_false(sample_has(&smp, M_pss));
	assert_false(sample_has(&smp, M_pss_unread));
}

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

static void one_that_would_stall_too_long_is_skipped_and_told_once(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	add(f, 2, PAGES_OF_4_GIB * 8ULL);
	tick(f, 1000);
	assert_int_equal(reads_of(f, 2), 0);
	assert_int_equal(f->nr_skips, 1);
	assert_int_equal(f->skips[0], 2);
	assert_string_equal(f->reason,
			    "reading it would take 0.819 s, and --pss allows 0.600 s at once");
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

static void one_that_may_not_be_read_is_told_once_and_left_alone(void **state)
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

static void shared_address_space_is_read_once(void **state)
{
	struct fixture *f = *state;

	add_row(f, 9, 640, 1000);
	add_row(f, 7, 640, 1000);
	add_row(f, 8, 640, 1000);
	tick(f, 2);
	assert_int_equal(f->nr_reads, 1);
	assert_int_equal(f->reads[0], 7); /* the oldest */
	assert_int_equal(f->smp.value[M_pss], 1000 * 2048);
}

static void process_without_memory_is_not_read(void **state)
{
	struct fixture *f = *state;

	add_row(f, 1, 0, 0);
	tick(f, 2);
	assert_int_equal(f->nr_reads, 0);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
}

static void gone_ones_are_forgotten(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 100);
	add(f, 2, 300);
	tick(f, 2);
	f->nr_rows = 1;
	tick(f, 1);
	assert_int_equal(f->smp.value[M_pss], 100 * 2048);
	assert_int_equal(f->pss.nr_spaces, 1);
}

static void budget_saved_for_one_that_is_gone_is_everybodys(void **state)
{
	struct fixture *f = *state;

	add(f, 1, PAGES_OF_4_GIB);
	tick(f, 20);
	f->nr_rows = 0;
	add(f, 2, 100000); /* 10 ms, and 38 have been saved */
	tick(f, 1);
	assert_int_equal(reads_of(f, 2), 1);
}

static void new_image_is_unread(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 1000);
	tick(f, 2);
	f->rows[0].image = 2;
	f->rows[0].pages[RSS_ANON] = PAGES_OF_4_GIB;
	tick(f, 1);
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	assert_false(sample_has(&f->smp, M_pss));
}

static void old_value_is_no_more_than_what_is_resident_now(void **state)
{
	struct fixture *f = *state;

	add(f, 1, PAGES_OF_4_GIB);
	tick(f, 80);
	assert_int_equal(reads_of(f, 1), 1);
	f->rows[0].pages[RSS_ANON] = PAGES_OF_4_GIB / 8;
	f->pss.budget_ns = 0;
	tick(f, 1);
	assert_int_equal(reads_of(f, 1), 1);
	assert_int_equal(f->smp.value[M_pss], PAGES_OF_4_GIB / 8 * (uint64_t)sysconf(_SC_PAGESIZE));
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

static void own_process_is_read_from_proc(void **state)
{
	struct smaps said = { 0 };

	(void)state;
	assert_int_equal(smaps_read(getpid(), &said), 0);
	assert_true(said.uss_bytes > 0);
	assert_true(said.pss_bytes >= said.uss_bytes);
}

static void count_call(void *context)
{
	(*(unsigned *)context)++;
}

static void long_read_says_the_same_as_a_short_one(void **state)
{
	struct pss_reading quick = { 0 }, slow = { 0 };
	unsigned calls = 0;

	(void)state;
	assert_int_equal(pss_read(getpid(), 0, &quick, count_call, &calls), 0);
	assert_int_equal(calls, 0);
	assert_int_equal(pss_read(getpid(), NSEC_PER_SEC, &slow, count_call, &calls), 0);
	assert_true(quick.took_ns > 0 && slow.took_ns > 0);
	assert_in_range(slow.uss_bytes, quick.uss_bytes / 2, quick.uss_bytes * 2);
	assert_int_equal(pss_read(0x7ffffff0, NSEC_PER_SEC, &slow, count_call, &calls), -ENOENT);
}

static void process_that_is_not_there_is_an_error(void **state)
{
	struct smaps said;

	(void)state;
	assert_int_equal(smaps_read(0x7ffffff0, &said), -ENOENT);
}

#define PSS_TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PSS_TEST(largest_is_read_first),
		PSS_TEST(sums_are_of_all_that_were_read),
		PSS_TEST(nothing_is_read_before_any_time_has_passed),
		PSS_TEST(tree_without_processes_has_none),
		PSS_TEST(only_what_is_usable_is_set),
		PSS_TEST(budget_is_kept_over_many_samples),
		PSS_TEST(large_one_is_read_at_a_lower_rate),
		PSS_TEST(small_ones_do_not_starve_a_large_one),
		PSS_TEST(large_ones_take_turns),
		PSS_TEST(one_that_would_stall_too_long_is_skipped_and_told_once),
		PSS_TEST(one_that_was_skipped_is_read_when_it_has_shrunk),
		PSS_TEST(one_that_has_grown_too_large_is_unread_again),
		PSS_TEST(one_that_may_not_be_read_is_told_once_and_left_alone),
		PSS_TEST(one_that_ends_while_it_is_read_is_neither_read_nor_unread),
		PSS_TEST(shared_address_space_is_read_once),
		PSS_TEST(process_without_memory_is_not_read),
		PSS_TEST(gone_ones_are_forgotten),
		PSS_TEST(budget_saved_for_one_that_is_gone_is_everybodys),
		PSS_TEST(new_image_is_unread),
		PSS_TEST(old_value_is_no_more_than_what_is_resident_now),
		PSS_TEST(cost_that_was_measured_sets_the_rate),
		cmocka_unit_test(own_process_is_read_from_proc),
		cmocka_unit_test(long_read_says_the_same_as_a_short_one),
		cmocka_unit_test(process_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
