/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where processes of the run say that a span begins or ends, or a phase (a mark): a socket on which
 * each connection brings one message and gets one answer. The other end is unknown until the PID
 * that the kernel gives for it turns out to be one of the run; or it is one that wants the lines of
 * the run, by job/live. No connection is waited for.
 */
#ifndef MEASURE_SPAN_DESK_H
#define MEASURE_SPAN_DESK_H

#include "base/loop.h"

#include <stdbool.h>

#define SPAN_CALLERS 64 /* connections without a message yet; others wait to be accepted */

struct job;
struct live;
struct span_desk;

struct span_caller {
	struct loop_source source; /* its fd is -1: the place is free */
	struct span_desk *desk;
	uint64_t came_ns;      /* CLOCK_MONOTONIC */
	uint64_t came_boot_ns; /* CLOCK_BOOTTIME */
};

struct span_desk {
	struct loop *loop; /* not owned, nor are the next two */
	struct job *job;
	struct live *live;
	struct loop_source source; /* its fd is owned; -1: there are no spans */
	struct span_caller callers[SPAN_CALLERS];
	bool refuses_rights; /* the kernel takes no descriptors over its connections */
	bool is_full; /* no caller is accepted until a place is free, or one has been silent for
		       * long
		       */
};

void span_desk_init(struct span_desk *d);
/* Takes the listening socket @fd (-1: none), and callers from @loop on; @live takes those that want
 * the lines of the run. 0 or a negative errno. */
int span_desk_open(struct span_desk *d, int fd, struct loop *loop, struct job *job,
		   struct live *live);
/* To be called after the loop has waited; and the longest wait until then, no more than @wait_ms.
 */
void span_desk_attend(struct span_desk *d);
int span_desk_wait(const struct span_desk *d, int wait_ms);
/* Later callers get an error at once. */
void span_desk_close(struct span_desk *d);

#endif
