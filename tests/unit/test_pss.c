// SPDX-License-Identifier: BSD-2-Clause
/* What is read of PSS, of which processes, and what the sums are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "pss_fixture.h"

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
	assert_int_equal(pss_begin(&f->pss, NULL, 0, f->now_ns), 0);
	pss_sum(&f->pss, &uss, &smp);
	assert_true(sample_has(&smp, M_uss));
	assert_false(sample_has(&smp, M_pss));
	assert_false(sample_has(&smp, M_pss_unread));
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

static void own_process_is_read_from_proc(void **state)
{
	struct smaps said = { 0 };

	(void)state;
	assert_int_equal(smaps_read(getpid(), &said), 0);
	assert_true(said.uss_bytes > 0);
	assert_true(said.pss_bytes >= said.uss_bytes);
}

static void sample_that_is_cut_short_has_what_was_read_by_then(void **state)
{
	struct fixture *f = *state;
	struct pss_list list;

	add(f, 1, 3000);
	add(f, 2, 100);
	sample_begin(f);
	sample_begin(f);
	assert_int_equal(pss_plan(&f->pss, &list), 0);
	fake_reader(f, &list, 0, 1);
	pss_take(&f->pss, &list, 1);
	sample_end(f);
	assert_int_equal(f->smp.value[M_pss], 3000 * 2048);
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	sample_begin(f);
	fake_reader(f, &list, 1, 2);
	pss_take(&f->pss, &list, 2);
	sample_end(f);
	assert_int_equal(f->smp.value[M_pss], 3100 * 2048);
	assert_int_equal(f->smp.value[M_pss_unread], 0);
	assert_int_equal(f->pss.cost.postponed, 1); /* the first is of the sample before */
	pss_list_done(&list);
}

static void sample_without_any_result_has_no_sum(void **state)
{
	struct fixture *f = *state;
	struct pss_list list;

	add(f, 1, 3000);
	sample_begin(f);
	sample_begin(f);
	assert_int_equal(pss_plan(&f->pss, &list), 0);
	pss_take(&f->pss, &list, 0);
	sample_end(f);
	assert_false(sample_has(&f->smp, M_pss));
	assert_false(sample_has(&f->smp, M_uss));
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	pss_list_done(&list);
}

/* Its process has ended: the address, or the PID, may be another one's by now. */
static void late_result_of_one_that_is_gone_is_only_paid_for(void **state)
{
	struct fixture *f = *state;
	struct pss_list list;

	add(f, 1, 3000);
	sample_begin(f);
	sample_begin(f);
	assert_int_equal(pss_plan(&f->pss, &list), 0);
	f->rows[0].serial = 77;
	sample_begin(f);
	fake_reader(f, &list, 0, 1);
	pss_take(&f->pss, &list, 1);
	sample_end(f);
	assert_false(sample_has(&f->smp, M_pss));
	assert_int_equal(f->smp.value[M_pss_unread], 1);
	assert_int_equal(f->pss.cost.ns_total, 330000);
	pss_list_done(&list);
}

static void process_that_is_not_there_is_an_error(void **state)
{
	struct smaps said;

	(void)state;
	assert_int_equal(smaps_read(0x7ffffff0, &said), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PSS_TEST(largest_is_read_first),
		PSS_TEST(sums_are_of_all_that_were_read),
		PSS_TEST(nothing_is_read_before_any_time_has_passed),
		PSS_TEST(tree_without_processes_has_none),
		PSS_TEST(only_what_is_usable_is_set),
		PSS_TEST(shared_address_space_is_read_once),
		PSS_TEST(process_without_memory_is_not_read),
		PSS_TEST(gone_ones_are_forgotten),
		PSS_TEST(budget_saved_for_one_that_is_gone_is_everybodys),
		PSS_TEST(new_image_is_unread),
		PSS_TEST(old_value_is_no_more_than_what_is_resident_now),
		cmocka_unit_test(own_process_is_read_from_proc),
		PSS_TEST(sample_that_is_cut_short_has_what_was_read_by_then),
		PSS_TEST(sample_without_any_result_has_no_sum),
		PSS_TEST(late_result_of_one_that_is_gone_is_only_paid_for),
		cmocka_unit_test(process_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
