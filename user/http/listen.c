// SPDX-License-Identifier: BSD-2-Clause
#include "http/listen.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Clients that are not accepted yet; the kernel has a bound of its own (net.core.somaxconn). */
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
	if (a->any.sa_family == AF_INET6) /* [::] is all addresses, whatever the system's default */
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

/* Whether "localhost" may lead to @a; @other: where it may lead besides; of no family: nowhere. */
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

/* The second address, at the same port. An address that this machine has not got is nobody's. */
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

void http_ports_close(struct http_ports *p)
{
	for (size_t i = 0; i < HTTP_PORTS; i++)
		cleanup_closep(&p->fds[i]);
	*p = (struct http_ports){ .fds = { -1, -1 } };
}
