// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpfmon/roles/launch_signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_SUCH_PID 0x7ffffff0

static void signal_of_a_stranger_is_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = SI_USER, .ssi_pid = (uint32_t)getppid() };

	(void)state;
	assert_true(signals_is_to_forward(&si, getpid()));
}

static void queued_and_thread_signals_are_forwarded(void **state)
{
	struct signalfd_siginfo queued = { .ssi_code = SI_QUEUE, .ssi_pid = 1 };
	struct signalfd_siginfo thread = { .ssi_code = SI_TKILL, .ssi_pid = 1 };

	(void)state;
	assert_true(signals_is_to_forward(&queued, getpid()));
	assert_true(signals_is_to_forward(&thread, getpid()));
}

static void signal_of_the_terminal_is_not_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = SI_KERNEL };

	(void)state;
	assert_true(si.ssi_code > 0);
	assert_false(signals_is_to_forward(&si, getpid()));
}

static void end_of_a_child_is_not_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = CLD_EXITED, .ssi_pid = (uint32_t)getppid() };

	(void)state;
	assert_false(signals_is_to_forward(&si, getpid()));
}

static void signal_of_the_command_itself_is_not_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = SI_USER, .ssi_pid = (uint32_t)getpid() };

	(void)state;
	assert_false(signals_is_to_forward(&si, getpid()));
}

static void signal_of_a_child_of_the_command_is_not_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = SI_USER, .ssi_pid = (uint32_t)getpid() };

	(void)state;
	assert_false(signals_is_to_forward(&si, getppid()));
}

static void signal_from_outside_the_pid_namespace_is_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = SI_USER, .ssi_pid = 0 };

	(void)state;
	assert_true(signals_is_to_forward(&si, getpid()));
}

static void signal_of_a_sender_that_is_gone_is_forwarded(void **state)
{
	struct signalfd_siginfo si = { .ssi_code = SI_USER, .ssi_pid = NO_SUCH_PID };

	(void)state;
	assert_true(signals_is_to_forward(&si, getpid()));
}

static void open_reads_a_signal_and_returns_the_mask_before(void **state)
{
	struct signalfd_siginfo si = { 0 };
	sigset_t old;
	ssize_t n;
	int fd;

	(void)state;
	fd = signals_open(&old);
	raise(SIGTERM);
	n = read(fd, &si, sizeof(si));
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd);
	assert_int_equal(n, sizeof(si));
	assert_int_equal(si.ssi_signo, SIGTERM);
	assert_false(sigismember(&old, SIGTERM));
}

static void signals_that_request_no_end_wait_until_all_are_read(void **state)
{
	struct signalfd_siginfo si = { 0 };
	ssize_t before, after;
	sigset_t old;
	int fd;

	(void)state;
	fd = signals_open(&old);
	raise(SIGUSR1);
	before = read(fd, &si, sizeof(si));
	signals_read_all(fd);
	after = read(fd, &si, sizeof(si));
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd);
	assert_int_equal(before, -1);
	assert_int_equal(after, sizeof(si));
	assert_int_equal(si.ssi_signo, SIGUSR1);
}

static void mistakes_of_our_own_are_not_blocked(void **state)
{
	sigset_t old, now;
	int fd;

	(void)state;
	fd = signals_open(&old);
	sigprocmask(SIG_SETMASK, &old, &now);
	close(fd);
	assert_false(sigismember(&now, SIGSEGV));
	assert_false(sigismember(&now, SIGABRT));
	assert_true(sigismember(&now, SIGTERM));
}

static int status_after_dying_by(int sig)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		signal(sig, SIG_IGN);
		signals_die(sig);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return status;
}

static void dying_by_a_signal_leaves_no_core(void **state)
{
	int status = status_after_dying_by(SIGQUIT);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGQUIT);
	assert_false(WCOREDUMP(status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signal_of_a_stranger_is_forwarded),
		cmocka_unit_test(queued_and_thread_signals_are_forwarded),
		cmocka_unit_test(signal_of_the_terminal_is_not_forwarded),
		cmocka_unit_test(end_of_a_child_is_not_forwarded),
		cmocka_unit_test(signal_of_the_command_itself_is_not_forwarded),
		cmocka_unit_test(signal_of_a_child_of_the_command_is_not_forwarded),
		cmocka_unit_test(signal_from_outside_the_pid_namespace_is_forwarded),
		cmocka_unit_test(signal_of_a_sender_that_is_gone_is_forwarded),
		cmocka_unit_test(open_reads_a_signal_and_returns_the_mask_before),
		cmocka_unit_test(signals_that_request_no_end_wait_until_all_are_read),
		cmocka_unit_test(mistakes_of_our_own_are_not_blocked),
		cmocka_unit_test(dying_by_a_signal_leaves_no_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
