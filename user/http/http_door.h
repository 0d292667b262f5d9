/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listens, and accepts clients in a thread of its own. A client without room is refused at once, so
 * that it does not block others in the kernel's queue.
 */
#ifndef HTTP_HTTP_DOOR_H
#define HTTP_HTTP_DOOR_H

#include "config/config.h"
#include "http/connections.h"

/*
 * The sockets of an HTTP server. Clients resolve "localhost" to ::1 as well as 127.0.0.1: a server
 * at one of them takes its port at both, so that no other user can receive requests, with their
 * secrets, that were meant for this server.
 */

#define HTTP_PORTS 2

struct http_ports {
	int fds[HTTP_PORTS]; /* owned; non-blocking; -1 if unused */
	unsigned port;
	bool is_localhost; /* listens at both loopback addresses, or the only one there is */
};

/*
 * Listens at @a, and also at the other loopback address if @a is one or is the wildcard. Port 0
 * takes any that is free at both. Returns 0, or a negative errno with the address and the reason in
 * @why.
 */
int http_ports_open(struct http_ports *p, const struct config_address *a, char *why, size_t size);

struct door {
	struct http_ports ports; /* owned */
	int diagnosis, stop_fd;  /* owned; of peer_open(), and an eventfd */
	struct connections *connections;
	/* Serves the admitted @fd, and owns it even on failure. Called by the thread. */
	bool (*take)(void *context, int fd, const struct sockaddr *from, socklen_t length);
	void *context;
	bool has_thread;
	pthread_t thread;
};

#define DOOR_NONE ((struct door){ .ports.fds = { -1, -1 }, .diagnosis = -1, .stop_fd = -1 })

/*
 * Does what needs rights; @ports are open. Returns 0 or a negative errno; door_done() is needed in
 * either case.
 */
int door_init(struct door *d, const struct http_ports *ports);
/* Begins to accept, once the members above are set. Returns 0 or a negative errno. */
int door_start(struct door *d);
/* Stops accepting clients. */
void door_stop(struct door *d);
void door_done(struct door *d);

#endif
