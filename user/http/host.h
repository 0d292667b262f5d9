/* SPDX-License-Identifier: BSD-2-Clause */
/* The header Host: a request under a name of another site is refused. */
#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

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
