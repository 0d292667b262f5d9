// SPDX-License-Identifier: BSD-2-Clause
#include "base/notify.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* see sd_listen_fds(3) */
#define MOST_FDS 1024
#define NSEC_PER_USEC 1000ULL
#define FDNAME_BYTES 256

/* Returns the length of the manager's address, or 0 without a manager. */
static socklen_t manager_find(struct sockaddr_un *to)
{
	const char *name = getenv("NOTIFY_SOCKET");

	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!name || (*name != '/' && *name != '@') || strlen(name) >= sizeof(to->sun_path))
		return 0;
	memcpy(to->sun_path, name, strlen(name));
	if (*name == '@')
		to->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
}

/* Sends @state, with a copy of @passed unless that is -1. */
static int message_to_manager(const char *state, int passed, int flags)
{
	struct sockaddr_un to;
	struct iovec text = { (void *)state, strlen(state) };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr m = {
		.msg_name = &to, .msg_namelen = manager_find(&to), .msg_iov = &text, .msg_iovlen = 1
	};
	int fd, err;

	if (!m.msg_namelen)
		return -ENOENT;
	if (passed >= 0) {
		control.header = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.header), &passed, sizeof(passed));
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = sendmsg(fd, &m, MSG_NOSIGNAL | flags) < 0 ? -errno : 0;
	close(fd);
	return err;
}

void notify_send(const char *state)
{
	message_to_manager(state, -1, MSG_DONTWAIT);
}

int notify_keep(const char *name, int fd)
{
	char state[128];

	/* FDPOLL=0: a poll may report an error although the descriptor is of use */
	snprintf(state, sizeof(state), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
	return message_to_manager(state, fd, 0);
}

void notify_forget(const char *name)
{
	char state[128];

	snprintf(state, sizeof(state), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	message_to_manager(state, -1, 0);
}

/* The manager closes its end of the pipe when it handles the message. */
int notify_wait(int timeout_ms)
{
	struct pollfd end;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = message_to_manager("BARRIER=1", ends[1], 0);
	close(ends[1]);
	end = (struct pollfd){ .fd = ends[0] };
	if (!err && poll(&end, 1, timeout_ms) != 1)
		err = -ETIMEDOUT;
	close(ends[0]);
	return err;
}

/* Type=notify-reload requires the time. */
void notify_reloading(void)
{
	char state[64];

	snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)(clock_ns(CLOCK_MONOTONIC) / NSEC_PER_USEC));
	notify_send(state);
}

/* Returns the number in the environment variable @name, or 0. */
static unsigned long long variable_number(const char *name)
{
	const char *text = getenv(name);
	unsigned long long n;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	n = strtoull(text, &end, 10);
	return errno || *end ? 0 : n;
}

/* Children inherit the variables, so the service manager names the process that they are for. */
static bool variable_is_ours(const char *name)
{
	return variable_number(name) == (unsigned long long)getpid();
}

uint64_t notify_watchdog_ns(void)
{
	unsigned long long us = variable_number("WATCHDOG_USEC");

	if ((getenv("WATCHDOG_PID") && !variable_is_ours("WATCHDOG_PID")) ||
	    us > UINT64_MAX / NSEC_PER_USEC)
		return 0;
	return us * NSEC_PER_USEC;
}

static bool socket_is_wanted(int fd, int type)
{
	int is_listening = 0, domain = 0, has_type = 0;
	socklen_t size = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) &&
	       !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &has_type, &size) && is_listening &&
	       domain == AF_UNIX && has_type == type;
}

/* systemd passes blocking sockets without close-on-exec. */
static bool socket_prepare(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK) &&
	       !fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static bool name_is_kept(const char *name)
{
	return !strncmp(name, NOTIFY_KEPT, strlen(NOTIFY_KEPT));
}

/* Returns the number of passed descriptors. */
static int passed_count(void)
{
	unsigned long long nr = variable_number("LISTEN_FDS");

	return nr > MOST_FDS || !variable_is_ours("LISTEN_PID") ? 0 : (int)nr;
}

void notify_each_kept(void (*each)(void *context, const char *name, int fd), void *context)
{
	const char *at = getenv("LISTEN_FDNAMES");
	char name[FDNAME_BYTES];
	int nr = passed_count();

	for (int i = 0; at && i < nr; i++) {
		size_t n = strcspn(at, ":");

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (name_is_kept(name))
			each(context, name, fcntl(FIRST_FD + i, F_DUPFD_CLOEXEC, 0));
		at = at[n] ? at + n + 1 : NULL;
	}
}

int notify_take_socket(int type)
{
	const char *names = getenv("LISTEN_FDNAMES");
	int nr = passed_count(), found = -1, sockets = 0;

	if (!nr)
		return -1;
	for (int fd = FIRST_FD; fd < FIRST_FD + nr; fd++) {
		bool is_kept = names && name_is_kept(names);

		if (names)
			names = strchr(names, ':') ? strchr(names, ':') + 1 : NULL;
		sockets += !is_kept;
		if (!is_kept && found < 0 && socket_is_wanted(fd, type) && socket_prepare(fd))
			found = fd;
		else
			close(fd);
	}
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDNAMES");
	return found < 0 && sockets ? -EPROTOTYPE : found;
}

#define IN_THE_TIME_ALLOWED 3 /* messages: one may be late */

void watchdog_open(struct watchdog *w)
{
	*w = (struct watchdog){ .interval_ns = notify_watchdog_ns() / IN_THE_TIME_ALLOWED };
}

int watchdog_wait(const struct watchdog *w, int wait_ms)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), left_ms;

	if (!w->interval_ns)
		return wait_ms;
	left_ms = w->due_ns > now_ns ? (w->due_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	if (wait_ms >= 0 && left_ms > (uint64_t)wait_ms)
		return wait_ms;
	return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

void watchdog_send_due(struct watchdog *w)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!w->interval_ns || now_ns < w->due_ns)
		return;
	notify_send("WATCHDOG=1");
	w->due_ns = now_ns + w->interval_ns;
}
