// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_door.h"

#include "base/clock.h"
#include "base/stack.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHORT_MS 50 /* until descriptors or memory may be there again */
#define AT_ONCE 64  /* that are accepted between two looks at whether to stop */

int door_init(struct door *d, const struct http_ports *ports)
{
	*d = (struct door){ .ports = *ports,
			    .diagnosis = peer_open(),
			    .stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return d->stop_fd < 0 ? -errno : 0;
}

/* By a reset, which leaves nothing in the kernel that would be counted against the port. */
static void client_refuse(int fd)
{
	const struct linger none = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

/* 0; -EAGAIN: nobody waits; another negative errno: none can be accepted now. */
static int door_accept(struct door *d, int port)
{
	struct sockaddr_storage from = { 0 };
	socklen_t length = sizeof(from);
	int fd = accept4(port, (struct sockaddr *)&from, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer peer;

	if (fd < 0)
		return errno == EINTR || errno == ECONNABORTED ? 0 : -errno;
	peer_find(d->diagnosis, fd, &from, &peer);
	if (peer.kind == PEER_GONE ||
	    !connections_admit(d->connections, fd, &peer, clock_ns(CLOCK_MONOTONIC)))
		client_refuse(fd);
	else if (!d->take(d->context, fd, (struct sockaddr *)&from, length))
		connections_close(d->connections, fd);
	return 0;
}

static int door_accept_some(struct door *d, int port)
{
	int err = 0;

	for (int i = 0; !err && i < AT_ONCE; i++)
		err = door_accept(d, port);
	return err == -EAGAIN ? 0 : err;
}

static void *door_run(void *context)
{
	struct door *d = context;
	struct pollfd p[1 + HTTP_PORTS] = { { .fd = d->stop_fd, .events = POLLIN } };

	for (size_t i = 0; i < HTTP_PORTS; i++)
		p[1 + i] = (struct pollfd){ .fd = d->ports.fds[i], .events = POLLIN };
	while (!p[0].revents) {
		int err = 0;

		if (poll(p, 1 + HTTP_PORTS, -1) < 0)
			continue;
		for (size_t i = 0; !err && i < HTTP_PORTS; i++)
			if (p[1 + i].revents)
				err = door_accept_some(d, p[1 + i].fd);
		if (err) /* no descriptor is left, or no memory: the port stays readable */
			poll(p, 1, SHORT_MS);
	}
	return NULL;
}

int door_start(struct door *d)
{
	int err = stack_start_thread(&d->thread, door_run, d);

	d->has_thread = !err;
	return -err;
}

void door_stop(struct door *d)
{
	if (d->has_thread && !eventfd_write(d->stop_fd, 1))
		pthread_join(d->thread, NULL);
	d->has_thread = false;
}

void door_done(struct door *d)
{
	door_stop(d);
	http_ports_close(&d->ports);
	if (d->diagnosis >= 0)
		close(d->diagnosis);
	if (d->stop_fd >= 0)
		close(d->stop_fd);
}
