/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits with a limit for a reader or writer. */
#ifndef BASE_PATIENCE_H
#define BASE_PATIENCE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Limits without progress after the end of the launcher. Each role waits longer than the one it
 * depends on.
 */
#define PATIENCE_WITH_READER_NS (10 * NSEC_PER_SEC)    /* recorder, for readers of an output */
#define PATIENCE_WITH_RECORDER_NS (12 * NSEC_PER_SEC)  /* collector, for the recorder */
#define PATIENCE_WITH_COLLECTOR_NS (20 * NSEC_PER_SEC) /* recorder, for lines */

struct patience {
	int watched_fd;    /* socket whose hangup starts the time; -1: it starts at once */
	uint64_t limit_ns; /* of one wait */
	bool is_spent;     /* a wait has reached the limit: all later ones fail at once */
};

/*
 * Waits until @fd has one of @events or an error. Returns 0, or -ETIMEDOUT after the limit of @p;
 * @p may be NULL: no limit.
 */
int patience_wait(struct patience *p, int fd, short events);
/*
 * Writes @n bytes of @text to @fd and sets @done to the bytes written, also after an error. Returns
 * 0 or a negative errno; -ETIMEDOUT if nothing could be written within the limit of @p. With @p and
 * a blocking descriptor, waits before each piece that a ready pipe takes at once.
 */
int patience_write(struct patience *p, int fd, const char *text, size_t n, size_t *done);

#endif
