/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clients that follow a running job. Each sent its request to the span socket and gets the lines of
 * the run from then on over that connection. Nothing waits for them: a slow client loses lines.
 */
#ifndef MEASURE_LIVE_H
#define MEASURE_LIVE_H

#include "base/loop.h"
#include "measure/feed.h"

#include <stdbool.h>

#define LIVE_LISTENERS 8 /* at once; more are refused */

struct tally_view;
struct live;

struct live_listener {
	struct loop_source source; /* owns its fd; -1: free slot */
	struct live *live;
	struct feed feed;
	bool waits; /* polls for EPOLLOUT */
};

struct live {
	struct loop *loop; /* not owned, as is @view */
	struct tally_view *view;
	struct live_listener all[LIVE_LISTENERS];
};

void live_init(struct live *l, struct loop *loop, struct tally_view *view);
/*
 * Adds a listener for the connection @fd and takes ownership of it. It gets the meta line and the
 * last sample; with @processes also all live processes, now and at each sample. Returns -EPERM if
 * the peer is neither root nor the user of the run, -EUSERS if there are too many, or -ENOMEM; then
 * @why is the answer to send, and the caller keeps @fd.
 */
int live_take(struct live *l, int fd, bool processes, char *why, size_t size);
/* Call before the loop waits: polls those that have something to send. */
void live_watch(struct live *l);
/* Returns the bytes held for listeners that count against the budget of the job's feeds. */
size_t live_held(const struct live *l);
/* Sends what can be sent without blocking and closes all. */
void live_close(struct live *l);

#endif
