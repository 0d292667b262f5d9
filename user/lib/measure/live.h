/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that look at a run while it goes on: each has sent its request to the socket for spans
 * and gets the lines of the run from then on, as its recorder does, over that connection. None is
 * waited for: what one does not read is lost for that one alone.
 */
#ifndef MEASURE_LIVE_H
#define MEASURE_LIVE_H

#include "base/loop.h"
#include "measure/feed.h"

#include <stdbool.h>

#define LIVE_LISTENERS 8 /* at once; further ones are refused */

struct tally_view;
struct live;

struct live_listener {
	struct loop_source source; /* its fd, owned; -1: the place is free */
	struct live *live;
	struct feed feed;
	bool waits; /* for EPOLLOUT */
};

struct live {
	struct loop *loop; /* not owned, nor is the next one */
	struct tally_view *view;
	struct live_listener all[LIVE_LISTENERS];
};

void live_init(struct live *l, struct loop *loop, struct tally_view *view);
/*
 * Takes the connection @fd, which it owns from then on: it gets the meta line and the last sample;
 * with @processes also all live processes, now and at each sample. -EPERM: it is neither of the
 * user of the run nor root's; -EUSERS: there are too many; -ENOMEM. Then @why is for its reader,
 * and @fd is the caller's.
 */
int live_take(struct live *l, int fd, bool processes, char *why, size_t size);
/* To be called before the loop waits: those are waited for that have something to read. */
void live_watch(struct live *l);
/* The bytes that are held for those which the budget of the job's feeds is for. */
size_t live_held(const struct live *l);
/* Sends what can be sent at once, and closes all. */
void live_close(struct live *l);

#endif
