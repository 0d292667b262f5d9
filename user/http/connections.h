/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The open connections, and since when each has been without a finished request. The library's own
 * limit is one of silence: a client that sends or takes a byte now and then would stay for good.
 */
#ifndef HTTP_CONNECTIONS_H
#define HTTP_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONNECTIONS 128             /* there is room for; a server may allow fewer */
#define CONNECTION_FIRST_SECONDS 20 /* until the first request is answered */
#define CONNECTION_NEXT_SECONDS 120 /* for each later one, with the time before it */

struct connections {
	pthread_mutex_t lock;
	struct connection {
		bool is_open, is_known; /* one request was answered */
		int fd;                 /* of the library */
		uint64_t since_ns;
	} list[CONNECTIONS];
};

void connections_init(struct connections *c);
void connections_done(struct connections *c);
/* A connection was opened; is about to be closed, while its descriptor is still its own; has
 * answered a request. */
void connections_open(struct connections *c, int fd, uint64_t now_ns);
void connections_close(struct connections *c, int fd);
void connections_answer(struct connections *c, int fd, uint64_t now_ns);
/* Ends those that have taken too long. Returns their number. */
size_t connections_end_slow(struct connections *c, uint64_t now_ns);

#endif
