// SPDX-License-Identifier: BSD-2-Clause
/* The output of other programs, their status, and the end of those that hang. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fixture.h"
#include "bpfmon/roles/capture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define LONG (60 * NSEC_PER_SEC)
#define SHORT (100 * NSEC_PER_MSEC)

static int shell_run(const char *script, uint64_t limit_ns, struct captured *c)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };

	return capture_run(argv, NULL, limit_ns, c);
}

/* The shell ends by itself, and its stdout is @text. */
static void assert_output(const char *script, const char *text)
{
	struct captured c;

	assert_int_equal(shell_run(script, LONG, &c), 0);
	assert_string_equal(c.text, text);
	capture_done(&c);
}

static void stdout_is_kept(void **state)
{
	(void)state;
	assert_output("echo one; echo no >&2; echo two", "one\ntwo\n");
}

static void no_output_is_an_empty_text(void **state)
{
	(void)state;
	assert_output(":", "");
}

static void output_larger_than_a_pipe_is_read_while_it_runs(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_run("printf %01000000d 7; printf %01000000d 7 >&2", LONG, &c), 0);
	assert_int_equal(strlen(c.text), 1000000);
	capture_done(&c);
}

static void output_beyond_the_limit_ends_the_program(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_run("while :; do printf %01000000d 7; done", LONG, &c), -EMSGSIZE);
	capture_done(&c);
}

static void status_is_what_it_exits_with(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_run("exit 42", LONG, &c), 0);
	assert_int_equal(c.status, 42);
	capture_done(&c);
}

static void status_of_a_killed_program_is_as_in_a_shell(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_run("kill -TERM $$", LONG, &c), 0);
	assert_int_equal(c.status, 128 + SIGTERM);
	capture_done(&c);
}

static void error_line_is_the_last_line_of_stderr(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_run("echo first >&2; echo ' the last' >&2; echo >&2", LONG, &c), 0);
	assert_string_equal(c.error_line, " the last");
	capture_done(&c);
}

static void error_line_has_no_control_characters(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_run("printf 'a\\033[2Jb\\177c\\n' >&2", LONG, &c), 0);
	assert_string_equal(c.error_line, "a [2Jb c");
	capture_done(&c);
}

static void no_shell_sees_the_arguments(void **state)
{
	const char *const argv[] = { "echo", "$(false);", "*", NULL };
	struct captured c;

	(void)state;
	assert_int_equal(capture_run(argv, NULL, LONG, &c), 0);
	assert_string_equal(c.text, "$(false); *\n");
	capture_done(&c);
}

static void missing_program_is_enoent(void **state)
{
	const char *const argv[] = { "no-such-program-of-bpfmon", NULL };
	struct captured c;

	(void)state;
	assert_int_equal(capture_run(argv, NULL, LONG, &c), -ENOENT);
	assert_string_equal(c.text, "");
	capture_done(&c);
}

static void program_has_neither_stdin_nor_terminal_nor_our_folder(void **state)
{
	(void)state;
	assert_output("cat; pwd; (: >/dev/tty) 2>/dev/null || echo none", "/\nnone\n");
}

static void open_files_are_not_inherited(void **state)
{
	(void)state;
	assert_int_equal(dup2(STDERR_FILENO, 9), 9);
	assert_output("(: >&9) 2>/dev/null || echo closed", "closed\n");
	close(9);
}

/* Both hold the FIFO open for writing, once they run: it is at its end when both have ended. */
static void hanging_program_is_killed_with_its_children(void **state)
{
	const struct place *p = *state;
	struct pollfd end = { .events = POLLIN };
	struct captured c;
	char script[256], byte;

	assert_int_equal(mkfifo(p->path, 0600), 0);
	end.fd = open(p->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	snprintf(script, sizeof(script), "exec 7>%s; sleep 600 & wait", p->path);
	assert_int_equal(shell_run(script, SHORT, &c), -ETIMEDOUT);
	assert_int_equal(c.status, 128 + SIGKILL);
	capture_done(&c);
	poll(&end, 1, 60000);
	assert_int_equal(read(end.fd, &byte, 1), 0);
	close(end.fd);
}

static void program_that_leaves_a_child_with_its_pipes_has_ended(void **state)
{
	struct captured c;
	int left = 0;

	(void)state;
	assert_int_equal(shell_run("sleep 600 & echo $!", LONG, &c), 0);
	assert_int_equal(sscanf(c.text, "%d", &left), 1);
	assert_int_equal(kill(left, SIGKILL), 0);
	capture_done(&c);
}

static void ignored_sigchld_loses_no_status_and_is_restored(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, inherited, after;
	struct captured c;

	(void)state;
	sigaction(SIGCHLD, &ignore, &inherited);
	assert_int_equal(shell_run("exit 3", LONG, &c), 0);
	sigaction(SIGCHLD, &inherited, &after);
	assert_int_equal(c.status, 3);
	assert_ptr_equal(after.sa_handler, SIG_IGN);
	capture_done(&c);
}

/* The environment of a program, where SUDO_UID is @sudo_uid or, NULL, not set. */
static void assert_environment(const char *sudo_uid, const char *expected)
{
	const char *const argv[] = { "sh", "-c", "echo \"$PATH|$DOCKER_HOST|$HOME\"", NULL };
	struct captured c;

	if (sudo_uid)
		assert_int_equal(setenv("SUDO_UID", sudo_uid, 1), 0);
	assert_int_equal(capture_run(argv, NULL, LONG, &c), 0);
	assert_string_equal(c.text, expected);
	capture_done(&c);
	unsetenv("SUDO_UID");
}

static void variables_of_the_caller_of_sudo_do_not_reach_what_runs_as_root(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("skipped: it needs root\n");
		skip();
	}
	unsetenv("SUDO_UID");
	assert_int_equal(setenv("PATH", "/bin:/usr/bin:/theirs", 1), 0);
	assert_int_equal(setenv("DOCKER_HOST", "tcp://theirs", 1), 0);
	assert_int_equal(setenv("HOME", "/theirs", 1), 0);
	assert_environment("65534", CAPTURE_PATH "||/root\n");
	assert_environment("0", "/bin:/usr/bin:/theirs|tcp://theirs|/theirs\n");
	assert_environment(NULL, "/bin:/usr/bin:/theirs|tcp://theirs|/theirs\n");
	unsetenv("DOCKER_HOST");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stdout_is_kept),
		cmocka_unit_test(no_output_is_an_empty_text),
		cmocka_unit_test(output_larger_than_a_pipe_is_read_while_it_runs),
		cmocka_unit_test(output_beyond_the_limit_ends_the_program),
		cmocka_unit_test(status_is_what_it_exits_with),
		cmocka_unit_test(status_of_a_killed_program_is_as_in_a_shell),
		cmocka_unit_test(error_line_is_the_last_line_of_stderr),
		cmocka_unit_test(error_line_has_no_control_characters),
		cmocka_unit_test(no_shell_sees_the_arguments),
		cmocka_unit_test(missing_program_is_enoent),
		cmocka_unit_test(program_has_neither_stdin_nor_terminal_nor_our_folder),
		cmocka_unit_test(open_files_are_not_inherited),
		PLACE_TEST(hanging_program_is_killed_with_its_children),
		cmocka_unit_test(program_that_leaves_a_child_with_its_pipes_has_ended),
		cmocka_unit_test(ignored_sigchld_loses_no_status_and_is_restored),
		cmocka_unit_test(variables_of_the_caller_of_sudo_do_not_reach_what_runs_as_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
