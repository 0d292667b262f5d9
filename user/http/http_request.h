/* SPDX-License-Identifier: BSD-2-Clause */
/* What both servers ask of a request of libmicrohttpd. */
#ifndef HTTP_HTTP_REQUEST_H
#define HTTP_HTTP_REQUEST_H

#include <stdbool.h>

struct MHD_Connection;

/* Of the connection of a request; -1: it has none. */
int request_socket(struct MHD_Connection *c);
/* NULL: there is none of that name. */
const char *request_header(struct MHD_Connection *c, const char *name);
/* Whether there are two: a proxy may have looked at the other one. */
bool request_has_two_hosts(struct MHD_Connection *c);

#endif
