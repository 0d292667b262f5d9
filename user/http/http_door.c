// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_door.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/stack.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Pending connections; the kernel has its own limit (net.core.somaxconn). */
#define WAITING 4096
#define TRIES 32 /* to find a port that is free at both addresses */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage room;
};

static int port_listen(const union address *a)
{
	socklen_t bytes = a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
	int on = 1, off = 0, err;
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (a->any.sa_family == AF_INET6) /* [::] means all addresses on any system */
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!bind(fd, &a->any, bytes) && !listen(fd, WAITING))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static unsigned address_port(const union address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

/*
 * Returns whether "localhost" may resolve to @a. Sets @other to the other address it may resolve
 * to, or to AF_UNSPEC.
 */
static bool address_is_localhost(const union address *a, union address *other)
{
	*other = (union address){ .any.sa_family = AF_UNSPEC };
	if (a->any.sa_family == AF_INET6) {
		if (IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr))
			other->v4 = (struct sockaddr_in){
				.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
			};
		return other->any.sa_family || IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
	}
	if (a->v4.sin_addr.s_addr != htonl(INADDR_LOOPBACK) &&
	    a->v4.sin_addr.s_addr != htonl(INADDR_ANY))
		return false;
	other->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					   .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	return true;
}

static int ports_refuse(const union address *a, unsigned port, int err, char *why, size_t size)
{
	bool is_v6 = a->any.sa_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(a->any.sa_family,
		  is_v6 ? (const void *)&a->v6.sin6_addr : (const void *)&a->v4.sin_addr, text,
		  sizeof(text));
	snprintf(why, size, is_v6 ? "cannot listen on [%s]:%u: %s" : "cannot listen on %s:%u: %s",
		 text, port, strerror(-err));
	return err;
}

/*
 * Listens at the second address and the same port. An address that this machine lacks is skipped:
 * no process can listen there.
 */
static int ports_add_other(struct http_ports *p, union address *other)
{
	if (other->any.sa_family == AF_INET6)
		other->v6.sin6_port = htons((uint16_t)p->port);
	else if (other->any.sa_family == AF_INET)
		other->v4.sin_port = htons((uint16_t)p->port);
	else
		return 0;
	p->fds[1] = port_listen(other);
	return p->fds[1] < 0 && p->fds[1] != -EAFNOSUPPORT && p->fds[1] != -EADDRNOTAVAIL
		       ? p->fds[1]
		       : 0;
}

static int ports_try(struct http_ports *p, const union address *a, char *why, size_t size)
{
	union address other, got = { 0 };
	socklen_t length = sizeof(got);
	int err;

	p->fds[0] = port_listen(a);
	if (p->fds[0] < 0)
		return ports_refuse(a, address_port(a), p->fds[0], why, size);
	p->is_localhost = address_is_localhost(a, &other);
	err = getsockname(p->fds[0], &got.any, &length) ? -errno : 0;
	if (err)
		return ports_refuse(a, address_port(a), err, why, size);
	p->port = address_port(&got);
	err = ports_add_other(p, &other);
	return err ? ports_refuse(&other, p->port, err, why, size) : 0;
}

static void http_ports_close(struct http_ports *p)
{
	for (size_t i = 0; i < HTTP_PORTS; i++)
		cleanup_closep(&p->fds[i]);
	*p = (struct http_ports){ .fds = { -1, -1 } };
}

int http_ports_open(struct http_ports *p, const struct config_address *a, char *why, size_t size)
{
	const union address at = { .room = a->address };
	int err, tries = address_port(&at) ? 1 : TRIES;

	do {
		*p = (struct http_ports){ .fds = { -1, -1 } };
		err = ports_try(p, &at, why, size);
		if (err)
			http_ports_close(p);
	} while (err == -EADDRINUSE && --tries);
	return err;
}

#define SHORT_MS 50 /* pause when out of descriptors or memory */
#define AT_ONCE 64  /* accepted clients between checks of stop_fd */

int door_init(struct door *d, const struct http_ports *ports)
{
	*d = (struct door){ .ports = *ports,
			    .diagnosis = peer_open(),
			    .stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return d->stop_fd < 0 ? -errno : 0;
}

/* Closes by a reset, which leaves no state in the kernel that counts against the port. */
static void client_refuse(int fd)
{
	const struct linger none = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

/* Returns 0, -EAGAIN if no client waits, or another negative errno if none can be accepted now. */
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
		if (err) /* out of descriptors or memory: the port stays readable */
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
