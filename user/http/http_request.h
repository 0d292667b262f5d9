/* SPDX-License-Identifier: BSD-2-Clause */
/* Properties of a libmicrohttpd request that both servers need. */
#ifndef HTTP_HTTP_REQUEST_H
#define HTTP_HTTP_REQUEST_H

#include <stdbool.h>

struct MHD_Connection;

/* Returns the socket of a request; -1 if it has none. */
int request_socket(struct MHD_Connection *c);
/* Returns the value of a header; NULL if there is none of that name. */
const char *request_header(struct MHD_Connection *c, const char *name);
/*
 * Returns true if the request has two Host headers, of which a proxy may have used the other one.
 */
bool request_has_two_hosts(struct MHD_Connection *c);

#endif
