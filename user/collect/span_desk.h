/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where processes of the run say that a span begins or ends: a socket on which each connection
 * brings one message and gets one answer. The other end is unknown until the PID that the kernel
 * gives for it turns out to be one of the run. No connection is waited for.
 */
#ifndef COLLECT_SPAN_DESK_H
#define COLLECT_SPAN_DESK_H

#include "collect/loop.h"

#include <stdbool.h>

#define SPAN_CALLERS 64 /* connections without a message yet; one more takes the oldest's place */

struct job;
struct span_desk;

struct span_caller {
	struct loop_source source; /* its fd is -1: the place is free */
	struct span_desk *desk;
	uint64_t came; /* its number, in the order in which they came */
};

struct span_desk {
	struct loop *loop; /* not owned, nor is the next one */
	struct job *job;
	struct loop_source source; /* its fd is owned; -1: there are no spans */
	struct span_caller callers[SPAN_CALLERS];
	uint64_t nr_came;
};

void span_desk_init(struct span_desk *d);
/* Takes the listening socket @fd (-1: none), and callers from @loop on. 0 or a negative errno. */
int span_desk_open(struct span_desk *d, int fd, struct loop *loop, struct job *job);
/* Later callers get an error at once. */
void span_desk_close(struct span_desk *d);

#endif
