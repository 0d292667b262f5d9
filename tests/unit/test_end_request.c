// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpfmon/roles/limit_end.h"

#include <signal.h>

static struct signalfd_siginfo sent(int sig, uint32_t by)
{
	return (struct signalfd_siginfo){ .ssi_signo = (uint32_t)sig,
					  .ssi_code = SI_USER,
					  .ssi_pid = by };
}

static struct signalfd_siginfo of_the_terminal(int sig)
{
	return (struct signalfd_siginfo){ .ssi_signo = (uint32_t)sig, .ssi_code = SI_KERNEL };
}

static void four_signals_are_requests(void **state)
{
	struct signalfd_siginfo interrupt = sent(SIGINT, 1), terminate = sent(SIGTERM, 1);
	struct signalfd_siginfo hangup = sent(SIGHUP, 1), quit = sent(SIGQUIT, 1);
	struct signalfd_siginfo other = sent(SIGUSR1, 1);

	(void)state;
	signal(SIGHUP, SIG_DFL); /* the tests may run under nohup */
	assert_true(end_request_matches(&interrupt) && end_request_matches(&terminate));
	assert_true(end_request_matches(&hangup) && end_request_matches(&quit));
	assert_false(end_request_matches(&other));
}

static void hangup_under_nohup_is_no_request(void **state)
{
	struct signalfd_siginfo by_a_shell = sent(SIGHUP, 1),
				by_the_kernel = of_the_terminal(SIGHUP);

	(void)state;
	signal(SIGHUP, SIG_IGN);
	assert_false(end_request_matches(&by_a_shell) || end_request_matches(&by_the_kernel));
	signal(SIGHUP, SIG_DFL);
}

static void job_in_the_background_ignores_the_terminal_but_not_a_person(void **state)
{
	struct signalfd_siginfo by_a_person = sent(SIGINT, 1), by_a_key = of_the_terminal(SIGINT);

	(void)state;
	signal(SIGINT, SIG_IGN);
	assert_true(end_request_matches(&by_a_person));
	assert_false(end_request_matches(&by_a_key));
	signal(SIGINT, SIG_DFL);
}

static void same_signal_of_one_sender_at_once_is_an_echo(void **state)
{
	struct signalfd_siginfo si = sent(SIGTERM, 7);
	struct end_requests r = { 0 };

	(void)state;
	assert_true(end_request_count(&r, &si));
	assert_false(end_request_count(&r, &si));
	assert_int_equal(r.nr, 1);
}

static void same_signal_later_is_a_request(void **state)
{
	struct signalfd_siginfo si = sent(SIGTERM, 7);
	struct end_requests r = { 0 };

	(void)state;
	assert_true(end_request_count(&r, &si));
	r.at_ns -= 1000000000;
	assert_true(end_request_count(&r, &si));
	assert_int_equal(r.nr, 2);
}

static void another_signal_or_sender_is_a_request(void **state)
{
	struct signalfd_siginfo si[] = { sent(SIGTERM, 7), sent(SIGTERM, 8), sent(SIGINT, 8) };
	struct end_requests r = { 0 };

	(void)state;
	assert_true(end_request_count(&r, &si[0]));
	assert_true(end_request_count(&r, &si[1]));
	assert_true(end_request_count(&r, &si[2]));
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.signal, SIGINT);
}

static void key_of_the_terminal_has_no_echo(void **state)
{
	struct signalfd_siginfo si = of_the_terminal(SIGINT);
	struct end_requests r = { 0 };

	(void)state;
	assert_true(end_request_count(&r, &si));
	assert_true(end_request_count(&r, &si));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_signals_are_requests),
		cmocka_unit_test(hangup_under_nohup_is_no_request),
		cmocka_unit_test(job_in_the_background_ignores_the_terminal_but_not_a_person),
		cmocka_unit_test(same_signal_of_one_sender_at_once_is_an_echo),
		cmocka_unit_test(same_signal_later_is_a_request),
		cmocka_unit_test(another_signal_or_sender_is_a_request),
		cmocka_unit_test(key_of_the_terminal_has_no_echo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
