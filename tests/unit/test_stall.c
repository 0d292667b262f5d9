// SPDX-License-Identifier: BSD-2-Clause
/* When a run is stalled, and when it is not any more. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/stall.h"

#define S 1000000000ULL

#define STALL(after)                                                                               \
	{                                                                                          \
		.after_ns = (after), .below_ppm = 5000                                             \
	}

static void what_does_nothing_is_stalled_after_that_time(void **state)
{
	struct stall s = STALL(10 * S);
	struct account a = { .processes = 3, .cpu = 5 * S, .rchar = 1 << 20 };

	(void)state;
	assert_false(stall_update(&s, 1 * S, &a, 0));
	assert_false(stall_update(&s, 10 * S, &a, 0));
	assert_false(s.is_stalled);
	assert_true(stall_update(&s, 11 * S, &a, 0));
	assert_true(s.is_stalled);
	assert_int_equal(s.begun_ns, 1 * S);
	assert_false(stall_update(&s, 500 * S, &a, 0));
	assert_true(s.is_stalled);
}

/* 2 KiB a second that are written and 16 that are read; and a share of a CPU. */
static void work_ends_it(void **state)
{
	struct account idle = { .processes = 3 }, works[5];

	(void)state;
	for (int i = 0; i < 5; i++)
		works[i] = idle;
	works[0].wchar = (2 << 10) + 1;
	works[1].read = (16 << 10) + 1;
	works[2].calls.net_rx = (16 << 10) + 1;
	works[3].calls.net_tx = (2 << 10) + 1;
	works[4].cpu = S / 200 + 1;
	for (int i = 0; i < 5; i++) {
		struct stall s = STALL(S);

		assert_false(stall_update(&s, 0, &idle, 0));
		assert_true(stall_update(&s, S, &idle, 0));
		assert_true(stall_update(&s, 2 * S, &works[i], 0));
		assert_false(s.is_stalled);
		assert_int_equal(s.begun_ns, 0);
		assert_false(stall_update(&s, 3 * S - 1, &works[i], 0));
		assert_true(stall_update(&s, 3 * S, &works[i], 0));
		assert_int_equal(s.begun_ns, 2 * S);
	}
}

/* The threads of a process that trains may sleep while its kernels run. */
static void a_gpu_at_work_is_work(void **state)
{
	const struct account idle = { .processes = 1 };
	struct stall s = STALL(S);

	(void)state;
	assert_false(stall_update(&s, 0, &idle, 0));
	for (uint64_t t = 1; t < 5; t++)
		assert_false(stall_update(&s, t * S, &idle, t * S / 2));
	assert_false(stall_update(&s, 5 * S - 1, &idle, 2 * S));
	assert_true(stall_update(&s, 5 * S, &idle, 2 * S));
}

/* A supervisor beside a program that hangs: sh -c 'while sleep 5; do log; done'. */
static void a_loop_that_looks_for_work_every_5_s_is_no_work(void **state)
{
	struct stall s = STALL(60 * S);
	struct account a = { .processes = 2 };
	bool is_stalled = false;

	(void)state;
	for (uint64_t t = 0; t < 70; t++) {
		if (t % 5 == 0) {
			a.cpu += 10 * S / 1000;
			a.rchar += 50000;
			a.wchar += 80;
			a.write += 4096;
			a.forks++;
			a.execs++;
			a.exits++;
		}
		is_stalled |= stall_update(&s, t * S, &a, 0);
	}
	assert_true(is_stalled && s.is_stalled);
}

static void the_share_is_what_was_asked_for(void **state)
{
	static const struct {
		uint64_t below_ppm, used_ppm;
		bool is_stalled;
	} cases[] = { { 5000, 4900, true },
		      { 5000, 6000, false },
		      { 0, 10, false },
		      { 0, 0, true },
		      { 20000, 19000, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stall s = { .after_ns = 60 * S, .below_ppm = cases[i].below_ppm };
		struct account a = { .processes = 1 };

		for (uint64_t t = 0; t < 300; t++) {
			a.cpu = t * S / 1000000 * cases[i].used_ppm;
			stall_update(&s, t * S, &a, 0);
		}
		assert_int_equal(s.is_stalled, cases[i].is_stalled);
	}
}

/* What it may use without being at work does not add up over the hours of a stall. */
static void work_after_a_long_stall_is_seen_at_once(void **state)
{
	struct stall s = STALL(60 * S);
	struct account a = { .processes = 1 };
	uint64_t t = 0;

	(void)state;
	for (; t < 36000; t++)
		stall_update(&s, t * S, &a, 0);
	assert_true(s.is_stalled);
	assert_int_equal(s.begun_ns, 0);
	a.cpu += 9 * S / 10;
	assert_true(stall_update(&s, t * S, &a, 0));
	assert_false(s.is_stalled);
}

static void without_processes_or_a_time_nothing_is_stalled(void **state)
{
	struct stall off = { 0 }, empty = STALL(S);
	struct account a = { 0 };

	(void)state;
	for (uint64_t t = 0; t < 100; t++)
		assert_false(stall_update(&empty, t * S, &a, 0));
	a.processes = 1;
	for (uint64_t t = 0; t < 100; t++)
		assert_false(stall_update(&off, t * S, &a, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_nothing_is_stalled_after_that_time),
		cmocka_unit_test(work_ends_it),
		cmocka_unit_test(a_gpu_at_work_is_work),
		cmocka_unit_test(a_loop_that_looks_for_work_every_5_s_is_no_work),
		cmocka_unit_test(the_share_is_what_was_asked_for),
		cmocka_unit_test(work_after_a_long_stall_is_seen_at_once),
		cmocka_unit_test(without_processes_or_a_time_nothing_is_stalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
