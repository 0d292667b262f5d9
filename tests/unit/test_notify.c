// SPDX-License-Identifier: BSD-2-Clause
/* Sockets that a service manager passes, and what it is told, each in a process of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

/* The descriptors from 3 on are what a service gets; a test may have some of these already. */
static void check_in_child(void (*check)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		check();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* A socket that listens, at an address that the kernel chooses, or does not. */
static void socket_put(int at, int domain, int type, bool listens)
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };
	int fd = socket(domain, type, 0);

	CHECK(fd >= 0);
	if (listens) {
		CHECK(domain != AF_UNIX || !bind(fd, (void *)&any, sizeof(any.sun_family)));
		CHECK(!listen(fd, 1));
	}
	if (fd != at) {
		CHECK(dup2(fd, at) == at);
		close(fd);
	}
}

static void number_set(const char *name, long long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", n);
	setenv(name, text, 1);
}

static void sockets_announce(int nr)
{
	number_set("LISTEN_PID", getpid());
	number_set("LISTEN_FDS", nr);
	setenv("LISTEN_FDNAMES", "a:b:c", 1);
}

static bool descriptor_is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void check_one(void)
{
	socket_put(3, AF_UNIX, SOCK_SEQPACKET, true);
	sockets_announce(1);
	CHECK(notify_take_socket(SOCK_SEQPACKET) == 3);
	CHECK(fcntl(3, F_GETFD) == FD_CLOEXEC);
	/* a loop that accepts until there is nobody left must not wait for the next client */
	CHECK(accept(3, NULL, NULL) < 0 && errno == EAGAIN);
	CHECK(!getenv("LISTEN_FDS") && !getenv("LISTEN_PID") && !getenv("LISTEN_FDNAMES"));
	CHECK(notify_take_socket(SOCK_SEQPACKET) == -1);
	CHECK(descriptor_is_open(3));
}

static void test_the_socket_that_was_passed_does_not_block(void **state)
{
	(void)state;
	check_in_child(check_one);
}

static void check_several(void)
{
	socket_put(3, AF_INET, SOCK_STREAM, true);
	socket_put(4, AF_UNIX, SOCK_STREAM, true);
	socket_put(5, AF_UNIX, SOCK_SEQPACKET, false);
	socket_put(6, AF_UNIX, SOCK_SEQPACKET, true);
	socket_put(7, AF_UNIX, SOCK_SEQPACKET, true);
	sockets_announce(5);
	CHECK(notify_take_socket(SOCK_SEQPACKET) == 6);
	for (int fd = 3; fd <= 7; fd++)
		CHECK(descriptor_is_open(fd) == (fd == 6));
}

static void test_of_several_sockets_the_one_that_fits_is_taken(void **state)
{
	(void)state;
	check_in_child(check_several);
}

static void check_none_fits(void)
{
	socket_put(3, AF_UNIX, SOCK_STREAM, true);
	sockets_announce(1);
	CHECK(notify_take_socket(SOCK_SEQPACKET) == -EPROTOTYPE);
	CHECK(!descriptor_is_open(3));
}

static void test_a_socket_of_another_type_is_an_error(void **state)
{
	(void)state;
	check_in_child(check_none_fits);
}

static int nr_kept;

static void kept_note(void *context, const char *name, int fd)
{
	CHECK(context == &nr_kept);
	CHECK(!strcmp(name, "kept-1") && fd > 5);
	CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	close(fd);
	nr_kept++;
}

static void check_kept(void)
{
	socket_put(3, AF_UNIX, SOCK_SEQPACKET, true);
	socket_put(4, AF_UNIX, SOCK_SEQPACKET, true);
	socket_put(5, AF_UNIX, SOCK_SEQPACKET, true);
	sockets_announce(3);
	setenv("LISTEN_FDNAMES", "kept-1:a.socket:unkept-", 1);
	notify_each_kept(kept_note, &nr_kept);
	CHECK(nr_kept == 1);
	CHECK(notify_take_socket(SOCK_SEQPACKET) == 4);
	for (int fd = 3; fd <= 5; fd++)
		CHECK(descriptor_is_open(fd) == (fd == 4));
}

static void test_a_kept_descriptor_is_no_socket_for_clients(void **state)
{
	(void)state;
	check_in_child(check_kept);
}

static void check_only_kept(void)
{
	socket_put(3, AF_UNIX, SOCK_SEQPACKET, true);
	sockets_announce(1);
	setenv("LISTEN_FDNAMES", "kept-1", 1);
	CHECK(notify_take_socket(SOCK_SEQPACKET) == -1);
}

static void test_without_a_socket_a_kept_descriptor_is_no_error(void **state)
{
	(void)state;
	check_in_child(check_only_kept);
}

static void check_keeping(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "notify-kept-test" };
	int manager = socket(AF_UNIX, SOCK_DGRAM, 0), ends[2], fds[FDS_AT_ONCE];
	union passed_fds room;
	char text[200];
	struct iovec part = { text, sizeof(text) };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room.room,
			    .msg_controllen = sizeof(room.room) };
	ssize_t n;

	CHECK(notify_keep("kept-1", 0) == -ENOENT); /* no manager */
	at.sun_path[0] = '\0';
	CHECK(!bind(manager, (struct sockaddr *)&at,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 16)));
	setenv("NOTIFY_SOCKET", "@otify-kept-test", 1);
	CHECK(!pipe(ends) && !notify_keep("kept-7", ends[1]));
	n = recvmsg(manager, &m, 0);
	CHECK(n == (ssize_t)strlen("FDSTORE=1\nFDPOLL=0\nFDNAME=kept-7") &&
	      !memcmp(text, "FDSTORE=1\nFDPOLL=0\nFDNAME=kept-7", (size_t)n));
	CHECK(fds_read(&m, fds) == 1 && write(fds[0], "x", 1) == 1 && read(ends[0], text, 9) == 1);
	CHECK(notify_wait(0) == -ETIMEDOUT); /* the manager still has the message */
}

static void test_what_a_manager_is_to_keep(void **state)
{
	(void)state;
	check_in_child(check_keeping);
}

static void check_another_process(void)
{
	socket_put(3, AF_UNIX, SOCK_SEQPACKET, true);
	sockets_announce(1);
	number_set("LISTEN_PID", getppid());
	CHECK(notify_take_socket(SOCK_SEQPACKET) == -1);
	CHECK(descriptor_is_open(3));
}

static void test_sockets_for_another_process_are_left_alone(void **state)
{
	(void)state;
	check_in_child(check_another_process);
}

static void check_nonsense(void)
{
	static const char *const numbers[] = { "", "0", "-1", "x", "1x", "99999999999999999999" };

	socket_put(3, AF_UNIX, SOCK_SEQPACKET, true);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		sockets_announce(1);
		setenv("LISTEN_FDS", numbers[i], 1);
		CHECK(notify_take_socket(SOCK_SEQPACKET) == -1);
		CHECK(descriptor_is_open(3));
		setenv("WATCHDOG_USEC", numbers[i], 1);
		CHECK(notify_watchdog_ns() == 0);
	}
}

static void test_variables_that_are_no_numbers_mean_nothing(void **state)
{
	(void)state;
	check_in_child(check_nonsense);
}

/* The socket of a service manager that never was. */
static int manager_open(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char name[80];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	snprintf(name, sizeof(name), "@bpfmon-test-notify-%d", getpid());
	memcpy(at.sun_path + 1, name + 1, strlen(name) - 1);
	CHECK(!bind(fd, (void *)&at,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))));
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static bool manager_was_told(int fd, const char *what)
{
	char text[128] = "";

	return recv(fd, text, sizeof(text) - 1, 0) > 0 && !strncmp(text, what, strlen(what));
}

static void check_messages(void)
{
	int fd = manager_open();

	notify_send("READY=1");
	CHECK(manager_was_told(fd, "READY=1"));
	notify_reloading();
	CHECK(manager_was_told(fd, "RELOADING=1\nMONOTONIC_USEC="));
}

static void test_the_manager_is_told(void **state)
{
	(void)state;
	check_in_child(check_messages);
}

static void check_watchdog(void)
{
	int fd = manager_open();
	struct watchdog w;

	number_set("WATCHDOG_USEC", 3600 * 1000000LL);
	number_set("WATCHDOG_PID", getpid());
	watchdog_open(&w);
	CHECK(watchdog_wait(&w, -1) == 0);
	/* at each turn of a loop that is busy, and told once */
	for (int i = 0; i < 1000; i++)
		watchdog_send_due(&w);
	CHECK(manager_was_told(fd, "WATCHDOG=1"));
	CHECK(!manager_was_told(fd, ""));
	/* often enough that one may be late */
	CHECK(watchdog_wait(&w, -1) > 0 && watchdog_wait(&w, -1) <= 1800 * 1000);
	CHECK(watchdog_wait(&w, 5) == 5);
	w.due_ns = clock_ns(CLOCK_MONOTONIC);
	watchdog_send_due(&w);
	CHECK(manager_was_told(fd, "WATCHDOG=1"));
}

static void test_the_watchdog_is_fed_in_time_and_no_oftener(void **state)
{
	(void)state;
	check_in_child(check_watchdog);
}

static void check_no_watchdog(void)
{
	int fd = manager_open();
	struct watchdog w;

	number_set("WATCHDOG_USEC", 1000000);
	number_set("WATCHDOG_PID", getppid());
	watchdog_open(&w);
	watchdog_send_due(&w);
	CHECK(watchdog_wait(&w, -1) == -1);
	CHECK(watchdog_wait(&w, 7) == 7);
	CHECK(!manager_was_told(fd, ""));
}

static void test_the_watchdog_of_another_process_is_not_ours(void **state)
{
	(void)state;
	check_in_child(check_no_watchdog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_socket_that_was_passed_does_not_block),
		cmocka_unit_test(test_of_several_sockets_the_one_that_fits_is_taken),
		cmocka_unit_test(test_a_socket_of_another_type_is_an_error),
		cmocka_unit_test(test_a_kept_descriptor_is_no_socket_for_clients),
		cmocka_unit_test(test_without_a_socket_a_kept_descriptor_is_no_error),
		cmocka_unit_test(test_what_a_manager_is_to_keep),
		cmocka_unit_test(test_sockets_for_another_process_are_left_alone),
		cmocka_unit_test(test_variables_that_are_no_numbers_mean_nothing),
		cmocka_unit_test(test_the_manager_is_told),
		cmocka_unit_test(test_the_watchdog_is_fed_in_time_and_no_oftener),
		cmocka_unit_test(test_the_watchdog_of_another_process_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
