// SPDX-License-Identifier: BSD-2-Clause
/* The processes that hold the most, of the rows of a drain. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/live_processes.h"

#define ROW(which, space, anon)                                                                    \
	{                                                                                          \
		.pid = (which), .mm = (space), .pages = { [RSS_ANON] = (anon) }                    \
	}

static void assert_pids(const struct heaviest *h, const unsigned *pids, size_t nr)
{
	assert_int_equal(h->nr, nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(h->rows[i]->pid, pids[i]);
}

static int find(struct heaviest *h, const struct drain_row *all, size_t nr, size_t most)
{
	const struct drain_row *rows[8];

	assert_true(nr <= 8);
	for (size_t i = 0; i < nr; i++)
		rows[i] = &all[i];
	return heaviest_find(h, rows, nr, most);
}

static void heaviest_come_first_and_of_equals_the_lower_pid(void **state)
{
	const struct drain_row rows[] = { ROW(9, 1, 5), ROW(4, 2, 70), ROW(7, 3, 5),
					  ROW(2, 4, 1), ROW(8, 5, 5),  ROW(3, 6, 6) };
	struct heaviest h = { 0 };

	(void)state;
	assert_int_equal(find(&h, rows, 6, 4), 0);
	assert_pids(&h, (unsigned[]){ 4, 3, 7, 8 }, 4);
	assert_int_equal(find(&h, rows, 6, 1000), 0);
	assert_pids(&h, (unsigned[]){ 4, 3, 7, 8, 9, 2 }, 6);
	heaviest_done(&h);
}

static void all_resident_kinds_weigh_and_swap_does_not(void **state)
{
	const struct drain_row rows[] = {
		{ .pid = 1, .mm = 1, .pages = { [RSS_SWAP] = 900, [RSS_ANON] = 1 } },
		{ .pid = 2, .mm = 2, .pages = { [RSS_FILE] = 3 } },
		{ .pid = 3, .mm = 3, .pages = { [RSS_SHMEM] = 2, [RSS_ANON] = 2 } },
	};
	struct heaviest h = { 0 };

	(void)state;
	assert_int_equal(find(&h, rows, 3, 3), 0);
	assert_pids(&h, (unsigned[]){ 3, 2, 1 }, 3);
	heaviest_done(&h);
}

static void shared_space_counts_once_for_the_oldest_process(void **state)
{
	struct drain_row rows[] = { ROW(5, 1, 50), ROW(6, 1, 50), ROW(3, 1, 50), ROW(9, 2, 60) };
	struct heaviest h = { 0 };

	(void)state;
	rows[0].start_boot_ns = 20;
	rows[1].start_boot_ns = 10;
	rows[2].start_boot_ns = 30;
	assert_int_equal(find(&h, rows, 4, 10), 0);
	assert_pids(&h, (unsigned[]){ 9, 6 }, 2);
	rows[1].end_boot_ns = 15; /* then it is one of those that live */
	assert_int_equal(find(&h, rows, 4, 10), 0);
	assert_pids(&h, (unsigned[]){ 9, 5 }, 2);
	rows[2].start_boot_ns = 20;
	assert_int_equal(find(&h, rows, 4, 10), 0);
	assert_pids(&h, (unsigned[]){ 9, 3 }, 2);
	heaviest_done(&h);
}

static void processes_that_ended_or_hold_nothing_are_left_out(void **state)
{
	struct drain_row rows[] = { ROW(1, 0, 0), ROW(2, 0, 0), ROW(3, 1, 80), ROW(4, 2, 1) };
	struct heaviest h = { 0 };

	(void)state;
	rows[2].end_boot_ns = 7;
	assert_int_equal(find(&h, rows, 4, 10), 0);
	assert_pids(&h, (unsigned[]){ 4 }, 1);
	assert_int_equal(find(&h, rows, 3, 10), 0);
	assert_int_equal(h.nr, 0);
	assert_int_equal(heaviest_find(&h, NULL, 0, 10), 0);
	assert_int_equal(h.nr, 0);
	heaviest_done(&h);
}

/* Two devices used by process 7, one by the process that had its PID before. */
static struct gpu_step steps[] = {
	{ .pid = 7, .serial = 70, .has = GPU_MEMORY, .memory_bytes = 4096 },
	{ .pid = 7, .serial = 70, .has = GPU_MEMORY, .memory_bytes = 8192, .device = 1 },
	{ .pid = 7, .serial = 69, .memory_bytes = 1, .device = 2 },
	{ .pid = 8, .serial = 80, .has = GPU_MEMORY, .memory_bytes = 2 },
};
static struct gpu_past pasts[] = {
	{ .serial = 70, .has = GPU_BUSY | GPU_MEMORY, .busy_ns = 1500 },
	{ .serial = 80, .has = GPU_MEMORY, .busy_ns = 1 },
};

static void view_use_gpus(struct tally_view *v)
{
	static struct books books;
	static struct run run;

	books.gpus.steps = steps;
	books.gpus.nr_steps = 4;
	books.gpus.is_fresh = true;
	books.gpus.pasts.all = pasts;
	books.gpus.pasts.nr = 2;
	metric_put(&run.usable, M_gpu);
	metric_put(&run.usable, M_gpu_memory);
	v->books = &books;
	v->run = &run;
}

static void a_live_process_has_its_use_of_all_gpus(void **state)
{
	const struct drain_row row = { .pid = 7, .serial = 70 },
			       unknown = { .pid = 8, .serial = 80 };
	static struct tally_view v;
	struct process_sample p;

	(void)state;
	view_use_gpus(&v);
	process_sample_take(&p, &v, &row, 0);
	assert_true(metric_has(&p.have, M_gpu) && metric_has(&p.have, M_gpu_memory));
	assert_int_equal(p.value[M_gpu], 1500);
	assert_int_equal(p.value[M_gpu_memory], 12288);
	process_sample_take(&p, &v, &unknown, 0);
	assert_false(metric_has(&p.have, M_gpu));
	assert_int_equal(p.value[M_gpu_memory], 2);
}

static void a_process_that_used_no_gpu_has_no_value_of_one(void **state)
{
	const struct drain_row row = { .pid = 9, .serial = 90 };
	static struct tally_view v;
	struct process_sample p;

	(void)state;
	view_use_gpus(&v);
	process_sample_take(&p, &v, &row, 0);
	assert_false(metric_has(&p.have, M_gpu) || metric_has(&p.have, M_gpu_memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heaviest_come_first_and_of_equals_the_lower_pid),
		cmocka_unit_test(all_resident_kinds_weigh_and_swap_does_not),
		cmocka_unit_test(shared_space_counts_once_for_the_oldest_process),
		cmocka_unit_test(processes_that_ended_or_hold_nothing_are_left_out),
		cmocka_unit_test(a_live_process_has_its_use_of_all_gpus),
		cmocka_unit_test(a_process_that_used_no_gpu_has_no_value_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
