/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets of an HTTP server. Browsers and others take "localhost" for ::1 as well as for
 * 127.0.0.1: who has a port at one of them has it at both, so that no other user gets requests, and
 * the secrets in these, which were meant for this server.
 */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include "config/config.h"

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
void http_ports_close(struct http_ports *p);

#endif
