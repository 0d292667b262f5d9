// SPDX-License-Identifier: BSD-2-Clause
/* When a run is stalled, and when it is not any more. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "job/stall.h"

#define S 1000000000ULL

static void who_does_nothing_is_stalled_after_that_time(void **state)
{
	struct stall s = { .after_ns = 10 * S };
	struct account a = { .processes = 3, .cpu = 5 * S, .rchar = 100 };

	(void)state;
	assert_false(stall_look(&s, 1 * S, &a));
	assert_false(stall_look(&s, 10 * S, &a));
	assert_false(s.is_stalled);
	assert_true(stall_look(&s, 11 * S, &a));
	assert_true(s.is_stalled);
	assert_int_equal(s.begun_ns, 1 * S);
	assert_false(stall_look(&s, 500 * S, &a));
	assert_true(s.is_stalled);
}

static void one_byte_or_child_or_end_ends_it(void **state)
{
	struct account idle = { .processes = 3 }, works[5];

	(void)state;
	for (int i = 0; i < 5; i++)
		works[i] = idle;
	works[0].wchar = 1;
	works[1].read = 1;
	works[2].forks = 1;
	works[3].exits = 1;
	works[4].execs = 1;
	for (int i = 0; i < 5; i++) {
		struct stall s = { .after_ns = S };

		assert_false(stall_look(&s, 0, &idle));
		assert_true(stall_look(&s, S, &idle));
		assert_true(stall_look(&s, 2 * S, &works[i]));
		assert_false(s.is_stalled);
		assert_int_equal(s.begun_ns, 0);
		assert_false(stall_look(&s, 3 * S - 1, &works[i]));
		assert_true(stall_look(&s, 3 * S, &works[i]));
		assert_int_equal(s.begun_ns, 2 * S);
	}
}

/* A thread that wakes up now and then to look is no work. */
static void a_thousandth_of_a_cpu_is_nothing_and_more_is_work(void **state)
{
	struct stall s = { .after_ns = 60 * S };
	struct account a = { .processes = 1 };

	(void)state;
	stall_look(&s, 0, &a);
	for (uint64_t t = 1; t < 60; t++) {
		a.cpu = t * S / 1000;
		assert_false(stall_look(&s, t * S, &a));
	}
	a.cpu = 60 * S / 1000;
	assert_true(stall_look(&s, 60 * S, &a));
	a.cpu += 2 * S / 1000;
	assert_true(stall_look(&s, 61 * S, &a));
	for (uint64_t t = 62; t < 300; t++) {
		a.cpu += 2 * S / 1000;
		assert_false(stall_look(&s, t * S, &a));
	}
}

static void without_processes_or_a_time_nothing_is_stalled(void **state)
{
	struct stall off = { 0 }, empty = { .after_ns = S };
	struct account a = { 0 };

	(void)state;
	for (uint64_t t = 0; t < 100; t++)
		assert_false(stall_look(&empty, t * S, &a));
	a.processes = 1;
	for (uint64_t t = 0; t < 100; t++)
		assert_false(stall_look(&off, t * S, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_nothing_is_stalled_after_that_time),
		cmocka_unit_test(one_byte_or_child_or_end_ends_it),
		cmocka_unit_test(a_thousandth_of_a_cpu_is_nothing_and_more_is_work),
		cmocka_unit_test(without_processes_or_a_time_nothing_is_stalled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
