/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket at which processes of the run begin and end spans and send marks: each connection
 * brings one message and gets one answer. The peer is trusted only if the PID that the kernel
 * reports for it is in the run. Connections that ask for the lines of the run go to live.h. Nothing
 * blocks on a connection.
 */
#ifndef MEASURE_SPAN_DESK_H
#define MEASURE_SPAN_DESK_H

#include "base/loop.h"

#include <stdbool.h>

#define SPAN_CALLERS 64 /* connections whose message has not come; others stay in the backlog */

struct job;
struct live;
struct span_desk;

struct span_caller {
	struct loop_source source; /* fd -1: free slot */
	struct span_desk *desk;
	uint64_t came_ns;      /* CLOCK_MONOTONIC */
	uint64_t came_boot_ns; /* CLOCK_BOOTTIME */
};

struct span_desk {
	struct loop *loop; /* not owned, as are job and live */
	struct job *job;
	struct live *live;
	struct loop_source source; /* owns its fd; -1: no spans */
	struct span_caller callers[SPAN_CALLERS];
	bool refuses_rights; /* the kernel passes no descriptors over its connections */
	/* accepts nothing until a slot is free or a caller has been silent too long */
	bool is_full;
};

void span_desk_init(struct span_desk *d);
/*
 * Listens on the socket @fd (-1: none) and takes ownership. @live takes connections that want the
 * lines of the run. Returns 0 or a negative errno.
 */
int span_desk_open(struct span_desk *d, int fd, struct loop *loop, struct job *job,
		   struct live *live);
/* Call after the loop has waited. */
void span_desk_attend(struct span_desk *d);
/* Returns the time in ms until span_desk_attend() is due, at most @wait_ms (-1: no limit). */
int span_desk_wait(const struct span_desk *d, int wait_ms);
/* Closes the socket: later callers get an error at once. */
void span_desk_close(struct span_desk *d);

#endif
