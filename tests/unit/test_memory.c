// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/tally.h"

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
	const struct drain_row all_rows[] = {
		{ .serial = 1,
		  .mm = 7,
		  .pages = { [RSS_ANON] = 10, [RSS_FILE] = 1 },
		  .vms_pages = 100 },
		{ .serial = 2,
		  .mm = 3,
		  .pages = { [RSS_SHMEM] = 5, [RSS_SWAP] = 2 },
		  .hugetlb_pages = 512,
		  .page_table_bytes = 8 },
		{ .serial = 3,
		  .mm = 7,
		  .pages = { [RSS_ANON] = 10, [RSS_FILE] = 1 },
		  .vms_pages = 100 },
	};
	struct metric_set usable = all();
	struct rows rows = { 0 };
	struct sample s = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		rows_add(&rows, &all_rows[i]);
	rows_settle(&rows);
	rows_sort(&rows);
	assert_int_equal(rows.nr_slices, 1);
	memory_sum(rows.slices[0].rows, rows.slices[0].nr, &usable, &s);
	rows_done(&rows);
	assert_int_equal(s.value[M_rss], 16 * PAGE);
	assert_int_equal(s.value[M_rss_anon], 10 * PAGE);
	assert_int_equal(s.value[M_rss_file], 1 * PAGE);
	assert_int_equal(s.value[M_rss_shmem], 5 * PAGE);
	assert_int_equal(s.value[M_swap], 2 * PAGE);
	assert_int_equal(s.value[M_vms], 100 * PAGE);
	assert_int_equal(s.value[M_page_tables], 8);
	assert_int_equal(s.value[M_hugetlb], 512 * PAGE);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_space_that_is_shared_counts_once),
		cmocka_unit_test(metric_that_is_not_usable_stays_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
