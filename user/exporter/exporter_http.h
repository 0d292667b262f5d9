/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server, in a thread of its own. It holds the board's lock only while it formats a
 * response, so a slow client never delays the reader of the stream.
 */
#ifndef EXPORTER_EXPORTER_HTTP_H
#define EXPORTER_EXPORTER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "exporter/passwords.h"
#include "http/http_door.h"
#include "http/http_request.h"
#include "config/config.h"

/* The options of bpfmon-exporter, from the agent's configuration and the command line. */

#define EXPORTER_LISTEN "127.0.0.1:9433"
#define EXPORTER_SERIES 1000
#define EXPORTER_MAX_SERIES 1000000
#define EXPORTER_KEEP_SECONDS 300

struct exporter_options {
	char stream[CONFIG_TEXT_BYTES + sizeof("unix:")]; /* agent:SOCKET, unix:PATH, FILE or - */
	struct config_address listen;
	char hosts[CONFIG_TEXT_BYTES]; /* separated by blanks */
	size_t series;                 /* most jobs with a series of their own */
	uint64_t keep_ns;              /* for ended jobs */
	char certificate[CONFIG_TEXT_BYTES], key[CONFIG_TEXT_BYTES]; /* empty: no TLS */
	char password_file[CONFIG_TEXT_BYTES];                       /* empty: no authentication */
	char user[CONFIG_TEXT_BYTES]; /* to become, if started by root; empty: none */
	bool is_verbose;
	bool shows_metrics, shows_version, shows_help;
};

/*
 * Reads the command line, which overrides the configuration file that it names. Prints errors.
 * Returns 0 or -EINVAL.
 */
int exporter_options_read(struct exporter_options *o, int argc, char **argv);
/* Prints the help text. */
void exporter_options_help(void);

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
