/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listens, and accepts clients in a thread of its own, which refuses a client at once if there is
 * no room for it: it does not wait in the kernel's queue before others.
 */
#ifndef HTTP_HTTP_DOOR_H
#define HTTP_HTTP_DOOR_H

#include "config/config.h"
#include "http/connections.h"

/*
 * The sockets of an HTTP server. Browsers and others take "localhost" for ::1 as well as for
 * 127.0.0.1: a server with a port at one of them has it at both, so that no other user gets
 * requests, and the secrets in these, which were meant for this server.
 */

#define HTTP_PORTS 2

struct http_ports {
	int fds[HTTP_PORTS]; /* non-blocking; owned; -1: none */
	unsigned port;
	bool is_localhost; /* it is at both addresses of loopback, or at the one that there is */
};

/*
 * Listens at @a, and at the other address of loopback if it is one of them or is all addresses.
 * Port 0: any that is free at both. 0; a negative errno: @why names the address and the reason.
 */
int http_ports_open(struct http_ports *p, const struct config_address *a, char *why, size_t size);

struct door {
	struct http_ports ports; /* owned */
	int diagnosis, stop_fd;  /* owned; of peer_open(), and an eventfd */
	struct connections *connections;
	/* Takes @fd, which was admitted, to be served; also if that fails. Called by the thread. */
	bool (*take)(void *context, int fd, const struct sockaddr *from, socklen_t length);
	void *context;
	bool has_thread;
	pthread_t thread;
};

#define DOOR_NONE ((struct door){ .ports.fds = { -1, -1 }, .diagnosis = -1, .stop_fd = -1 })

/* What needs rights: @ports are open. 0, or a negative errno; door_done() is needed in any case. */
int door_init(struct door *d, const struct http_ports *ports);
/* Begins to accept, for the set members. 0, or a negative errno. */
int door_start(struct door *d);
/* Stops accepting clients. */
void door_stop(struct door *d);
void door_done(struct door *d);

#endif
