// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT_NS (20 * NSEC_PER_MSEC)
#define MORE_THAN_A_PIPE (1UL << 18)

/* A pipe, and the socket to a launcher. */
struct world {
	int read_fd, write_fd;
	int role_fd, launcher_fd;
	struct patience patience;
	char *text;
};

static int world_make(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	int pipe_fd[2], control[2];

	*state = w;
	if (pipe2(pipe_fd, O_CLOEXEC) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
		return -1;
	w->read_fd = pipe_fd[0];
	w->write_fd = pipe_fd[1];
	w->role_fd = control[0];
	w->launcher_fd = control[1];
	w->patience = (struct patience){ .watched_fd = w->role_fd, .limit_ns = SHORT_NS };
	w->text = calloc(1, MORE_THAN_A_PIPE);
	return w->text ? 0 : -1;
}

static int world_remove(void **state)
{
	struct world *w = *state;

	close(w->read_fd);
	close(w->write_fd);
	close(w->role_fd);
	if (w->launcher_fd >= 0)
		close(w->launcher_fd);
	free(w->text);
	free(w);
	return 0;
}

static void launcher_ends(struct world *w)
{
	close(w->launcher_fd);
	w->launcher_fd = -1;
}

static void what_is_ready_is_not_waited_for(void **state)
{
	struct world *w = *state;

	launcher_ends(w);
	assert_int_equal(patience_wait(&w->patience, w->write_fd, POLLOUT), 0);
	assert_false(w->patience.is_spent);
}

static void wait_ends_some_time_after_the_launcher(void **state)
{
	struct world *w = *state;
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);

	launcher_ends(w);
	assert_int_equal(patience_wait(&w->patience, w->read_fd, POLLIN), -ETIMEDOUT);
	assert_true(clock_ns(CLOCK_MONOTONIC) - began_ns >= SHORT_NS);
	assert_true(w->patience.is_spent);
}

static void wait_outlasts_its_limit_while_the_launcher_is_there(void **state)
{
	struct world *w = *state;
	pid_t child = fork();

	if (!child) {
		usleep(4 * SHORT_NS / 1000);
		_exit(write(w->write_fd, "x", 1) == 1 ? 0 : 1);
	}
	assert_int_equal(patience_wait(&w->patience, w->read_fd, POLLIN), 0);
	assert_false(w->patience.is_spent);
	waitpid(child, NULL, 0);
}

static void spent_patience_still_takes_what_is_ready(void **state)
{
	struct world *w = *state;

	launcher_ends(w);
	w->patience.is_spent = true;
	assert_int_equal(patience_wait(&w->patience, w->read_fd, POLLIN), -ETIMEDOUT);
	assert_int_equal(patience_wait(&w->patience, w->write_fd, POLLOUT), 0);
}

static void without_a_launcher_to_watch_the_time_runs_at_once(void **state)
{
	struct world *w = *state;

	w->patience.watched_fd = -1;
	assert_int_equal(patience_wait(&w->patience, w->read_fd, POLLIN), -ETIMEDOUT);
}

static void pipe_that_blocks_takes_what_fits_and_is_then_given_up(void **state)
{
	struct world *w = *state;
	int room = fcntl(w->write_fd, F_GETPIPE_SZ);
	size_t done;

	launcher_ends(w);
	assert_int_equal(
		patience_write(&w->patience, w->write_fd, w->text, MORE_THAN_A_PIPE, &done),
		-ETIMEDOUT);
	assert_int_equal(done, room);
}

static void pipe_that_does_not_block_is_waited_for_as_well(void **state)
{
	struct world *w = *state;
	int room = fcntl(w->write_fd, F_GETPIPE_SZ);
	size_t done;

	launcher_ends(w);
	fcntl(w->write_fd, F_SETFL, O_NONBLOCK);
	assert_int_equal(
		patience_write(&w->patience, w->write_fd, w->text, MORE_THAN_A_PIPE, &done),
		-ETIMEDOUT);
	assert_int_equal(done, room);
}

static pid_t slow_reader(const struct world *w)
{
	char text[PIPE_BUF];
	pid_t child = fork();

	if (child)
		return child;
	close(w->write_fd);
	while (read(w->read_fd, text, sizeof(text)) > 0)
		usleep(1000);
	_exit(0);
}

static void slow_reader_gets_it_all_after_the_launcher(void **state)
{
	struct world *w = *state;
	pid_t child = slow_reader(w);
	size_t done;

	w->patience.limit_ns = 60 * NSEC_PER_SEC;
	launcher_ends(w);
	assert_int_equal(
		patience_write(&w->patience, w->write_fd, w->text, MORE_THAN_A_PIPE, &done), 0);
	assert_int_equal(done, MORE_THAN_A_PIPE);
	close(w->write_fd);
	waitpid(child, NULL, 0);
	w->write_fd = dup(w->read_fd);
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_make, world_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(what_is_ready_is_not_waited_for),
		WORLD_TEST(wait_ends_some_time_after_the_launcher),
		WORLD_TEST(wait_outlasts_its_limit_while_the_launcher_is_there),
		WORLD_TEST(spent_patience_still_takes_what_is_ready),
		WORLD_TEST(without_a_launcher_to_watch_the_time_runs_at_once),
		WORLD_TEST(pipe_that_blocks_takes_what_fits_and_is_then_given_up),
		WORLD_TEST(pipe_that_does_not_block_is_waited_for_as_well),
		WORLD_TEST(slow_reader_gets_it_all_after_the_launcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
