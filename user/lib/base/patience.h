/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits for a reader or a writer, with a limit. */
#ifndef BASE_PATIENCE_H
#define BASE_PATIENCE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

/* How long without progress, once the launcher has ended. Each role waits longer than the one it
 * waits for. */
#define PATIENCE_WITH_READER_NS (10 * NSEC_PER_SEC)    /* the recorder, for readers of an output */
#define PATIENCE_WITH_RECORDER_NS (12 * NSEC_PER_SEC)  /* the collector, for the recorder */
#define PATIENCE_WITH_COLLECTOR_NS (20 * NSEC_PER_SEC) /* the recorder, for lines */

struct patience {
	int watched_fd; /* a socket: the time runs when its other end sends no more; -1: at once */
	uint64_t limit_ns; /* of one wait, from then on */
	bool is_spent;     /* a wait has reached the limit: all later ones fail at once */
};

/*
 * Waits until @fd has one of @events, or an error. 0, or -ETIMEDOUT: the limit of @p was reached. A
 * @p of NULL has no limit.
 */
int patience_wait(struct patience *p, int fd, short events);
/*
 * Writes @n bytes of @text to @fd; @done is the number of bytes written, also after an error. 0, or
 * a negative errno; -ETIMEDOUT: nothing could be written within the limit of @p. With a @p and a
 * descriptor that blocks, it writes pieces that a ready pipe takes at once, and waits before each.
 */
int patience_write(struct patience *p, int fd, const char *text, size_t n, size_t *done);

#endif
