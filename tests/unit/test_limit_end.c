// SPDX-License-Identifier: BSD-2-Clause
/* Which processes get a signal when a run is ended: children of this test, as wait4 has their end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "bpfmon/roles/limit_end.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERIAL 0x1234

static struct limit_end e;
static pid_t child;

static int child_begin(void **state)
{
	(void)state;
	child = fork();
	if (!child) {
		for (;;)
			pause();
	}
	e = (struct limit_end){ .grace_ns = 3600 * NSEC_PER_SEC,
				.collector_fd = -1,
				.keeper_fd = -1 };
	return child < 0 ? -1 : 0;
}

static int child_end(void **state)
{
	(void)state;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	limit_end_done(&e);
	return 0;
}

static void take_message(enum control_type type, int value, uint64_t when_ns, const char *text)
{
	struct control c = { .type = type, .value = value, .when_ns = when_ns };

	snprintf(c.text, sizeof(c.text), "%s", text);
	limit_end_handle_message(&e, &c);
}

static void take_limit(bool is_hard)
{
	take_message(CONTROL_LIMIT, is_hard, 0, "{}");
}

/* A round of the collector, in which the child is the only process. */
static void take_living(uint64_t when_ns, uint64_t serial)
{
	char text[64];

	snprintf(text, sizeof(text), "%d:%lx ", (int)child, (unsigned long)serial);
	take_message(CONTROL_LIVING, LIVING_SOME, when_ns, text);
	take_message(CONTROL_LIVING, LIVING_ALL, when_ns, "0");
}

/* It would have been delivered by now: the signal is pending until it is acted on. */
static bool child_has_ended(void)
{
	siginfo_t info = { 0 };

	waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
	return info.si_pid == child;
}

static int child_signal(void)
{
	siginfo_t info = { 0 };

	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	return info.si_status;
}

static void a_list_from_before_it_was_opened_confirms_no_process(void **state)
{
	const uint64_t before_ns = clock_ns(CLOCK_BOOTTIME);

	(void)state;
	take_limit(true);
	assert_true(limit_end_has_begun(&e));
	take_living(before_ns, SERIAL);
	for (int i = 0; i < 5; i++) /* they have waited, as while the launcher was stopped */
		take_living(before_ns + 1, SERIAL);
	usleep(50000);
	assert_false(child_has_ended());
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	assert_int_equal(child_signal(), SIGTERM);
}

static void another_process_with_the_number_is_not_the_one_that_was_opened(void **state)
{
	(void)state;
	take_limit(true);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL + 1);
	usleep(50000);
	assert_false(child_has_ended());
}

static void the_command_which_is_a_child_needs_no_confirmation(void **state)
{
	(void)state;
	e.command = child;
	take_limit(true);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	assert_int_equal(child_signal(), SIGTERM);
}

static void without_a_grace_it_is_sigkill(void **state)
{
	(void)state;
	e.grace_ns = 0;
	take_limit(true);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	assert_int_equal(child_signal(), SIGKILL);
	assert_false(e.has_given_up);
}

static void to_ask_again_is_sigkill(void **state)
{
	(void)state;
	assert_false(limit_end_skip_grace(&e));
	take_limit(true);
	assert_true(limit_end_skip_grace(&e));
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	assert_int_equal(child_signal(), SIGKILL);
	take_message(CONTROL_LIVING, LIVING_OVER, 0, "1");
	assert_false(limit_end_skip_grace(&e));
}

static void without_a_collector_the_command_is_ended_all_the_same(void **state)
{
	(void)state;
	e.command = child;
	e.grace_ns = 0;
	take_limit(true);
	limit_end_advance(&e, false);
	assert_int_equal(child_signal(), SIGKILL);
}

static void a_soft_limit_ends_nothing(void **state)
{
	(void)state;
	take_limit(false);
	assert_false(limit_end_has_begun(&e));
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	take_living(clock_ns(CLOCK_BOOTTIME), SERIAL);
	usleep(50000);
	assert_false(child_has_ended());
}

int main(void)
{
#define CHILD_TEST(test) cmocka_unit_test_setup_teardown(test, child_begin, child_end)
	const struct CMUnitTest tests[] = {
		CHILD_TEST(a_list_from_before_it_was_opened_confirms_no_process),
		CHILD_TEST(another_process_with_the_number_is_not_the_one_that_was_opened),
		CHILD_TEST(the_command_which_is_a_child_needs_no_confirmation),
		CHILD_TEST(without_a_grace_it_is_sigkill),
		CHILD_TEST(to_ask_again_is_sigkill),
		CHILD_TEST(without_a_collector_the_command_is_ended_all_the_same),
		CHILD_TEST(a_soft_limit_ends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
