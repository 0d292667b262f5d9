/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket of an HTTP server. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include "config/config.h"

/* Listens at @a for up to @waiting clients that are not accepted yet. A non-blocking descriptor, or
 * a negative errno. */
int http_listen(const struct config_address *a, int waiting);

#endif
