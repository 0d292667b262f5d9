/* SPDX-License-Identifier: BSD-2-Clause */
/* What both servers ask of a request of libmicrohttpd. */
#ifndef HTTP_HTTP_REQUEST_H
#define HTTP_HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;

/* Of the connection of a request; -1: it has none. */
int request_socket(struct MHD_Connection *c);
/* NULL: there is none of that name. */
const char *request_header(struct MHD_Connection *c, const char *name);
/* Whether there are two: a proxy may have looked at the other one. */
bool request_has_two_hosts(struct MHD_Connection *c);

/* The header Host, by which a site whose name leads here is told from our own names. */

#define HOST_BYTES 256

struct host {
	char name[HOST_BYTES]; /* an IPv6 address in its brackets */
	const char *port;      /* of the header; NULL: none */
};

/* Reads NAME, NAME:PORT, ADDRESS:PORT, [ADDRESS]:PORT. False: it is none, or NULL. */
bool host_parse(const char *header, struct host *h);
bool host_is(const struct host *h, const char *name);
/* Whether it is one of @names, with blanks between. */
bool host_is_of(const struct host *h, const char *names);
/* Whether it is a number, which no site can make lead elsewhere. */
bool host_is_address(const struct host *h);

#endif
