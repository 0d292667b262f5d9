/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of a request that both servers need: its socket, its headers, and the host that it
 * names.
 */
#ifndef HTTP_HTTP_REQUEST_H
#define HTTP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

/* Returns the socket of a request; -1 if it has none. */
int request_socket(struct MHD_Connection *c);
/* Returns the value of a header; NULL if there is none of that name. */
const char *request_header(struct MHD_Connection *c, const char *name);
/*
 * Returns true if the request has two Host headers, of which a proxy may have used the other one.
 */
bool request_has_two_hosts(struct MHD_Connection *c);

/* The header Host: requests under the name of another site are refused. */

#define HOST_BYTES 256

struct host {
	char name[HOST_BYTES]; /* an IPv6 address is in brackets */
	const char *port;      /* points into the header; NULL if absent */
};

/*
 * Parses NAME, NAME:PORT, ADDRESS:PORT or [ADDRESS]:PORT. Returns false if @header is malformed or
 * NULL.
 */
bool host_parse(const char *header, struct host *h);
bool host_is(const struct host *h, const char *name);
/* Returns whether the host is one of @names, separated by blanks. */
bool host_is_of(const struct host *h, const char *names);
/* Returns whether the host is an IP address, which no site can redirect by DNS. */
bool host_is_address(const struct host *h);

#endif
