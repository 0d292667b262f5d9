// SPDX-License-Identifier: BSD-2-Clause
/* Which process has made a connection, also when it has ended since. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWNER 1000
#define STRANGER 1001

static void the_other_end_is_named_while_it_is_there(void **state)
{
	struct peer_process p = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	assert_int_equal(peer_process_read(fds[0], &p), 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.uid, geteuid());
	close(fds[0]);
	close(fds[1]);
}

/* A connection that a child has made, which has been waited for. */
static int connection_of_the_dead(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(sa_family_t);
	int listening = socket(AF_UNIX, SOCK_SEQPACKET, 0), fd;
	int calling = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	pid_t child;

	assert_int_equal(bind(listening, (struct sockaddr *)&at, size),
			 0); /* the kernel names it */
	assert_int_equal(listen(listening, 1), 0);
	size = sizeof(at);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &size), 0);
	child = fork();
	if (!child)
		_exit(connect(calling, (struct sockaddr *)&at, size) ? 1 : 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	fd = accept(listening, NULL, NULL);
	close(listening);
	close(calling);
	return fd;
}

static void one_that_has_ended_is_not_there(void **state)
{
	struct peer_process p = { .is_there = true };
	int fd = connection_of_the_dead(), err = peer_process_read(fd, &p);

	(void)state;
	assert_true(err == -ESRCH || !err); /* before 6.5 the kernel does not say */
	assert_false(p.is_there);
	close(fd);
}

static void one_that_is_there_is_itself(void **state)
{
	const struct peer_process p = { .uid = STRANGER, .is_there = true, .came_boot_ns = 5 };

	(void)state;
	assert_true(peer_process_matches(&p, 7, OWNER, OWNER));
}

static void else_a_process_may_not_be_younger_than_the_connection(void **state)
{
	const struct peer_process p = { .uid = OWNER, .came_boot_ns = 5 };

	(void)state;
	assert_true(peer_process_matches(&p, 5, OWNER, OWNER));
	assert_false(peer_process_matches(&p, 6, OWNER, OWNER));
}

static void else_the_connection_may_not_be_of_another_user(void **state)
{
	const struct peer_process stranger = { .uid = STRANGER, .came_boot_ns = 5 };
	const struct peer_process root = { .uid = 0, .came_boot_ns = 5 };

	(void)state;
	assert_false(peer_process_matches(&stranger, 1, OWNER, OWNER));
	assert_true(peer_process_matches(&stranger, 1, STRANGER, OWNER)); /* of what sudo started */
	assert_true(peer_process_matches(&root, 1, OWNER, OWNER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_end_is_named_while_it_is_there),
		cmocka_unit_test(one_that_has_ended_is_not_there),
		cmocka_unit_test(one_that_is_there_is_itself),
		cmocka_unit_test(else_a_process_may_not_be_younger_than_the_connection),
		cmocka_unit_test(else_the_connection_may_not_be_of_another_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
