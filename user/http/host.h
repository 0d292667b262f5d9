/* SPDX-License-Identifier: BSD-2-Clause */
/* The header Host: requests under the name of another site are refused. */
#ifndef HTTP_HOST_H
#define HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

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
