/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server, in a thread of its own. It holds the board's lock only while it formats a
 * response, so a slow client never delays the reader of the stream.
 */
#ifndef EXPORTER_EXPORTER_HTTP_H
#define EXPORTER_EXPORTER_HTTP_H

#include "board/board.h"
#include "exporter/exporter_options.h"
#include "exporter/passwords.h"
#include "http/http_door.h"
#include "http/http_request.h"

#define SCRAPERS 32 /* concurrent connections */

struct MHD_Daemon;

struct http {
	struct board *board; /* not owned */
	struct passwords passwords;
	char *certificate, *key; /* owned; NULL without TLS */
	struct MHD_Daemon *daemon;
	struct connections connections;
	struct door door;
	char host[HOST_BYTES];
	const char *hosts; /* further accepted host names; not owned */
};

/*
 * Reads the files that @o names and listens. Returns 0, or a negative errno with what failed, and
 * why, in @why. http_done() is needed in either case.
 */
int http_open(struct http *h, struct board *b, const struct exporter_options *o, char *why,
	      size_t size);
/* Starts the thread. Returns 0 or -EIO. */
int http_start(struct http *h);
/* Ends connections that take too long; called regularly. */
void http_tick(struct http *h);
void http_done(struct http *h);

#endif
