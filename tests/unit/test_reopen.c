// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fd.h"
#include "fixture.h"

#include <errno.h>
#include <pty.h>
#include <sys/socket.h>

static int is_nonblocking(int fd)
{
	return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

static void pipe_is_replaced_by_one_that_does_not_block(void **state)
{
	int fd[2], shared;
	char byte;

	(void)state;
	assert_int_equal(pipe(fd), 0);
	shared = dup(fd[1]);
	assert_int_equal(reopen_for_writing(fd[1]), 0);
	assert_true(is_nonblocking(fd[1]));
	assert_false(is_nonblocking(shared)); /* which others have, too */
	assert_int_equal(write(fd[1], "x", 1), 1);
	assert_int_equal(read(fd[0], &byte, 1), 1);
	close(fd[0]);
	close(fd[1]);
	close(shared);
}

static void terminal_is_replaced_by_one_that_does_not_block(void **state)
{
	int master, slave, shared;

	(void)state;
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	shared = dup(slave);
	assert_int_equal(reopen_for_writing(slave), 0);
	assert_true(is_nonblocking(slave) && isatty(slave));
	assert_false(is_nonblocking(shared));
	close(master);
	close(slave);
	close(shared);
}

static void master_of_a_terminal_stays_what_it_is(void **state)
{
	int master, slave;

	(void)state;
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	assert_int_equal(reopen_for_writing(master), -ENOTTY);
	assert_false(is_nonblocking(master));
	close(master);
	close(slave);
}

static void file_keeps_its_offset(void **state)
{
	struct place *p = *state;
	int fd = open(p->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(reopen_for_writing(fd), -ENOTTY);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 3);
	close(fd);
}

static void socket_and_end_for_reading_stay(void **state)
{
	int of_socket[2], of_pipe[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, of_socket), 0);
	assert_int_equal(pipe(of_pipe), 0);
	assert_int_equal(reopen_for_writing(of_socket[0]), -ENOTTY);
	assert_int_equal(reopen_for_writing(of_pipe[0]), -ENOTTY);
	close(of_socket[0]);
	close(of_socket[1]);
	close(of_pipe[0]);
	close(of_pipe[1]);
}

static void named_pipe_that_has_lost_its_reader_stays(void **state)
{
	struct place *p = *state;
	int reader, fd;

	mkfifo(p->path, 0600);
	reader = open(p->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	fd = open(p->path, O_WRONLY | O_CLOEXEC);
	close(reader);
	assert_int_equal(reopen_for_writing(fd), -ENXIO);
	assert_false(is_nonblocking(fd));
	close(fd);
}

static void descriptor_that_is_closed_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(reopen_for_writing(987), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pipe_is_replaced_by_one_that_does_not_block),
		cmocka_unit_test(terminal_is_replaced_by_one_that_does_not_block),
		cmocka_unit_test(master_of_a_terminal_stays_what_it_is),
		PLACE_TEST(file_keeps_its_offset),
		cmocka_unit_test(socket_and_end_for_reading_stay),
		PLACE_TEST(named_pipe_that_has_lost_its_reader_stays),
		cmocka_unit_test(descriptor_that_is_closed_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
