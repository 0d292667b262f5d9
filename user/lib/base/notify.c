// SPDX-License-Identifier: BSD-2-Clause
#include "base/notify.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

void notify_send(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (!name || (*name != '/' && *name != '@') || strlen(name) >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, name, strlen(name));
	if (*name == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)));
	close(fd);
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

int notify_take_socket(int type)
{
	unsigned long long nr = variable_number("LISTEN_FDS");
	int found = -1;

	if (!nr || nr > MOST_FDS || !variable_is_ours("LISTEN_PID"))
		return -1;
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDNAMES");
	for (int fd = FIRST_FD; fd < FIRST_FD + (int)nr; fd++) {
		if (found < 0 && socket_is_wanted(fd, type) && socket_prepare(fd))
			found = fd;
		else
			close(fd);
	}
	return found < 0 ? -EPROTOTYPE : found;
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
