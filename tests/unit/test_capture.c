// SPDX-License-Identifier: BSD-2-Clause
/* Other programs: what they say, how they end, and what is done about those that do not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "fixture.h"
#include "container/capture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define LONG (60 * NSEC_PER_SEC)
#define SHORT (100 * NSEC_PER_MSEC)

static int shell_for(const char *script, uint64_t limit_ns, struct captured *c)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };

	return capture_run(argv, NULL, limit_ns, c);
}

/* The shell ends by itself and says this. */
static void assert_said(const char *script, const char *text)
{
	struct captured c;

	assert_int_equal(shell_for(script, LONG, &c), 0);
	assert_string_equal(c.text, text);
	capture_done(&c);
}

static void what_it_says_is_kept(void **state)
{
	(void)state;
	assert_said("echo one; echo no >&2; echo two", "one\ntwo\n");
}

static void saying_nothing_is_an_empty_text(void **state)
{
	(void)state;
	assert_said(":", "");
}

static void more_than_a_pipe_holds_is_read_meanwhile(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_for("printf %01000000d 7; printf %01000000d 7 >&2", LONG, &c), 0);
	assert_int_equal(strlen(c.text), 1000000);
	capture_done(&c);
}

static void saying_more_than_anybody_would_read_ends_it(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_for("while :; do printf %01000000d 7; done", LONG, &c), -EMSGSIZE);
	capture_done(&c);
}

static void status_is_what_it_exits_with(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_for("exit 42", LONG, &c), 0);
	assert_int_equal(c.status, 42);
	capture_done(&c);
}

static void status_of_who_is_killed_is_as_a_shell_says_it(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_for("kill -TERM $$", LONG, &c), 0);
	assert_int_equal(c.status, 128 + SIGTERM);
	capture_done(&c);
}

static void complaint_is_the_last_line(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_for("echo first >&2; echo ' the last' >&2; echo >&2", LONG, &c), 0);
	assert_string_equal(c.error_line, " the last");
	capture_done(&c);
}

static void complaint_has_nothing_that_a_terminal_obeys(void **state)
{
	struct captured c;

	(void)state;
	assert_int_equal(shell_for("printf 'a\\033[2Jb\\177c\\n' >&2", LONG, &c), 0);
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

static void program_that_is_not_there_is_told(void **state)
{
	const char *const argv[] = { "no-such-program-of-bpfmon", NULL };
	struct captured c;

	(void)state;
	assert_int_equal(capture_run(argv, NULL, LONG, &c), -ENOENT);
	assert_string_equal(c.text, "");
	capture_done(&c);
}

static void it_has_neither_stdin_nor_terminal_nor_our_folder(void **state)
{
	(void)state;
	assert_said("cat; pwd; (: >/dev/tty) 2>/dev/null || echo none", "/\nnone\n");
}

static void what_is_open_here_is_not_open_there(void **state)
{
	(void)state;
	assert_int_equal(dup2(STDERR_FILENO, 9), 9);
	assert_said("(: >&9) 2>/dev/null || echo closed", "closed\n");
	close(9);
}

/* Both hold the FIFO open for writing, if they came to that: its end comes when they have ended. */
static void who_hangs_is_killed_with_its_children(void **state)
{
	const struct place *p = *state;
	struct pollfd end = { .events = POLLIN };
	struct captured c;
	char script[256], byte;

	assert_int_equal(mkfifo(p->path, 0600), 0);
	end.fd = open(p->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	snprintf(script, sizeof(script), "exec 7>%s; sleep 600 & wait", p->path);
	assert_int_equal(shell_for(script, SHORT, &c), -ETIMEDOUT);
	assert_int_equal(c.status, 128 + SIGKILL);
	capture_done(&c);
	poll(&end, 1, 60000);
	assert_int_equal(read(end.fd, &byte, 1), 0);
	close(end.fd);
}

static void who_leaves_a_child_with_its_pipes_has_ended(void **state)
{
	struct captured c;
	int left = 0;

	(void)state;
	assert_int_equal(shell_for("sleep 600 & echo $!", LONG, &c), 0);
	assert_int_equal(sscanf(c.text, "%d", &left), 1);
	assert_int_equal(kill(left, SIGKILL), 0);
	capture_done(&c);
}

static void our_ignoring_of_children_is_no_matter_and_is_kept(void **state)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, inherited, after;
	struct captured c;

	(void)state;
	sigaction(SIGCHLD, &ignore, &inherited);
	assert_int_equal(shell_for("exit 3", LONG, &c), 0);
	sigaction(SIGCHLD, &inherited, &after);
	assert_int_equal(c.status, 3);
	assert_ptr_equal(after.sa_handler, SIG_IGN);
	capture_done(&c);
}

/* What a program sees of our environment, where it is called for who called sudo or not. */
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

static void variables_of_who_called_sudo_are_not_for_what_runs_as_root(void **state)
{
	(void)state;
	if (geteuid())
		skip();
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
		cmocka_unit_test(what_it_says_is_kept),
		cmocka_unit_test(saying_nothing_is_an_empty_text),
		cmocka_unit_test(more_than_a_pipe_holds_is_read_meanwhile),
		cmocka_unit_test(saying_more_than_anybody_would_read_ends_it),
		cmocka_unit_test(status_is_what_it_exits_with),
		cmocka_unit_test(status_of_who_is_killed_is_as_a_shell_says_it),
		cmocka_unit_test(complaint_is_the_last_line),
		cmocka_unit_test(complaint_has_nothing_that_a_terminal_obeys),
		cmocka_unit_test(no_shell_sees_the_arguments),
		cmocka_unit_test(program_that_is_not_there_is_told),
		cmocka_unit_test(it_has_neither_stdin_nor_terminal_nor_our_folder),
		cmocka_unit_test(what_is_open_here_is_not_open_there),
		PLACE_TEST(who_hangs_is_killed_with_its_children),
		cmocka_unit_test(who_leaves_a_child_with_its_pipes_has_ended),
		cmocka_unit_test(our_ignoring_of_children_is_no_matter_and_is_kept),
		cmocka_unit_test(variables_of_who_called_sudo_are_not_for_what_runs_as_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
