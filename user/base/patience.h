/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for a reader or a writer, but not without end. */
#ifndef BASE_PATIENCE_H
#define BASE_PATIENCE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

/* Without progress, from the launcher's end on. Each role outlasts what it waits for. */
#define PATIENCE_WITH_READER_NS (10 * NSEC_PER_SEC)    /* recorder: who reads an output */
#define PATIENCE_WITH_RECORDER_NS (12 * NSEC_PER_SEC)  /* collector */
#define PATIENCE_WITH_COLLECTOR_NS (20 * NSEC_PER_SEC) /* recorder: its lines */

struct patience {
	int watched_fd;    /* a socket: the time runs when its other end is closed; -1: at once */
	uint64_t limit_ns; /* of one wait, from then on */
	bool is_spent;     /* a wait took that long; from here on there is none */
};

/*
 * Waits until @fd has one of @events, or has failed. 0, or -ETIMEDOUT: that took longer than @p
 * allows. A @p of NULL waits without end.
 */
int patience_wait(struct patience *p, int fd, short events);
/*
 * Writes @n bytes of @text to @fd; how many were written, in @done, also when it failed. 0, or a
 * negative errno; -ETIMEDOUT: for longer than @p allows nothing could be written. With @p not NULL
 * and a descriptor that blocks, a pipe takes pieces that fit, and the wait is before each.
 */
int patience_write(struct patience *p, int fd, const char *text, size_t n, size_t *done);

#endif
