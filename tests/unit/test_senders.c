// SPDX-License-Identifier: BSD-2-Clause
/* PIDs of the run at a given time: of live and of ended processes, and reused ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/pushed.h"

#include <stdlib.h>

#define SECOND 1000000000ULL

static int senders_make(void **state)
{
	struct senders *s = malloc(sizeof(*s));

	*state = s;
	return s ? senders_init(s) : -1;
}

static int senders_free(void **state)
{
	senders_done(*state);
	free(*state);
	return 0;
}

static void life_end(struct senders *s, uint32_t pid, uint64_t start, uint64_t end)
{
	const struct process_record r = {
		.pid = pid,
		.start_boot_ns = start * SECOND,
		.end_boot_ns = end * SECOND,
	};

	senders_add_ended(s, &r);
}

static void no_pid_is_known_at_first(void **state)
{
	assert_false(senders_know(*state, 1, SECOND));
	assert_false(senders_know(*state, 0, SECOND));
}

static void a_live_process_is_known_from_its_start_on(void **state)
{
	const struct drain_row rows[] = {
		{ .pid = 30, .start_boot_ns = 5 * SECOND },
		{ .pid = 10, .start_boot_ns = 7 * SECOND },
		{ .pid = 20, .start_boot_ns = 6 * SECOND, .end_boot_ns = 8 * SECOND },
	};

	assert_int_equal(senders_set_alive(*state, rows, 3), 0);
	assert_true(senders_know(*state, 10, 7 * SECOND));
	assert_true(senders_know(*state, 30, 100 * SECOND));
	assert_true(senders_know(*state, 20, 8 * SECOND));
	assert_false(senders_know(*state, 20, 9 * SECOND));
	assert_false(senders_know(*state, 10, 6 * SECOND));
	assert_false(senders_know(*state, 15, 7 * SECOND));
	assert_int_equal(senders_set_alive(*state, rows, 1), 0);
	assert_false(senders_know(*state, 10, 7 * SECOND));
}

static void an_ended_process_is_known_for_its_lifetime(void **state)
{
	life_end(*state, 10, 5, 6);
	assert_true(senders_know(*state, 10, 5 * SECOND));
	assert_true(senders_know(*state, 10, 6 * SECOND));
	assert_false(senders_know(*state, 10, 4 * SECOND));
	assert_false(senders_know(*state, 10, 7 * SECOND));
}

static void a_reused_pid_is_known_in_each_of_its_lives(void **state)
{
	life_end(*state, 10, 5, 6);
	life_end(*state, 10 + LIVES_KEPT, 5, 9); /* the same slot */
	life_end(*state, 10, 8, 9);
	assert_true(senders_know(*state, 10, 5 * SECOND));
	assert_true(senders_know(*state, 10, 8 * SECOND));
	assert_false(senders_know(*state, 10, 7 * SECOND));
	assert_true(senders_know(*state, 10 + LIVES_KEPT, 7 * SECOND));
}

static void a_process_that_ended_after_the_drain_is_not_alive(void **state)
{
	const struct drain_row row = { .pid = 10, .start_boot_ns = 5 * SECOND };

	assert_int_equal(senders_set_alive(*state, &row, 1), 0);
	life_end(*state, 10, 5, 6);
	assert_true(senders_know(*state, 10, 6 * SECOND));
	assert_false(senders_know(*state, 10, 7 * SECOND)); /* reused by now */
}

static void only_the_oldest_ended_processes_are_forgotten(void **state)
{
	for (uint32_t i = 1; i <= LIVES_KEPT + 5; i++)
		life_end(*state, i * 3, 5, 6);
	for (uint32_t i = 1; i <= LIVES_KEPT + 5; i++)
		assert_int_equal(senders_know(*state, i * 3, 5 * SECOND), i > 5);
}

#define SENDERS_TEST(test) cmocka_unit_test_setup_teardown(test, senders_make, senders_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SENDERS_TEST(no_pid_is_known_at_first),
		SENDERS_TEST(a_live_process_is_known_from_its_start_on),
		SENDERS_TEST(an_ended_process_is_known_for_its_lifetime),
		SENDERS_TEST(a_reused_pid_is_known_in_each_of_its_lives),
		SENDERS_TEST(a_process_that_ended_after_the_drain_is_not_alive),
		SENDERS_TEST(only_the_oldest_ended_processes_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
