/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server, a thread of its own. It holds the lock of the board only while it makes a text,
 * so no client, however slow, keeps the stream from being read.
 */
#ifndef EXPORTER_EXPORTER_HTTP_H
#define EXPORTER_EXPORTER_HTTP_H

#include "exporter/board.h"
#include "exporter/exporter_options.h"
#include "exporter/passwords.h"
#include "http/http_door.h"
#include "http/host.h"

#define SCRAPERS 32 /* connections at once */

struct MHD_Daemon;

struct http {
	struct board *board; /* not owned */
	struct passwords passwords;
	char *certificate, *key; /* owned; NULL: no TLS */
	struct MHD_Daemon *daemon;
	struct connections connections;
	struct door door;
	char host[HOST_BYTES];
	const char *hosts; /* names that it answers to besides; not owned */
};

/* Reads the files that @o names and listens. 0; a negative errno: @why is what failed and why.
 * http_done() is needed in any case. */
int http_open(struct http *h, struct board *b, const struct exporter_options *o, char *why,
	      size_t size);
/* Starts the thread. 0, or -EIO. */
int http_start(struct http *h);
/* To be called now and then: ends connections that take too long. */
void http_tick(struct http *h);
void http_done(struct http *h);

#endif
