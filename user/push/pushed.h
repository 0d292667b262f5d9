/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs push, on its way into the run: it waits here until it is known whether its sender
 * is one of ours; and how much of it is taken.
 */
#ifndef PUSH_PUSHED_H
#define PUSH_PUSHED_H

#include "push/inbox.h"
#include "push/senders.h"
#include "model/summary.h"

/* Of marks and of metrics, each: */
#define PUSHED_BURST 2000     /* lines at once, */
#define PUSHED_PER_SECOND 200 /* and in the long run */
/* The same of bytes, as they are written: 5.3 GiB a day; 327 a line where all lines come. */
#define PUSHED_BYTES_BURST (1UL << 20)
#define PUSHED_BYTES_PER_SECOND (64UL << 10)

/*
 * What waits may take so many bytes, what comes from PIDs that are not known to be ours (yet) half
 * of these, and one such PID an eighth of that: no stranger leaves us without room for our own.
 */
#define PUSHED_WAITING_BYTES (4UL << 20)
#define PUSHED_UNKNOWN_BYTES (2UL << 20)
#define PUSHED_SHARE_BYTES (256UL << 10)
#define PUSHED_SHARES 1024

/* Something that may be done so often in a time, saved up to a burst. */
struct rate {
	uint64_t at_ns;     /* when it was last looked at; 0: never */
	uint64_t credit_ns; /* time that was not used */
};

/* How much is taken of one kind. */
struct allowance {
	struct rate lines, bytes;
	size_t queue_bytes; /* no more than that may wait for the recorder then */
};

struct pushed {
	bool is_on;
	struct inbox inbox;
	struct senders senders;
	struct letter *waiting, **last; /* owned */
	size_t nr_waiting, waiting_bytes;
	size_t unknown_bytes;         /* of these, from those not known to be ours when it came; */
	size_t shares[PUSHED_SHARES]; /* by PID */
	struct allowance marks, metrics;
	struct rate samples;
	uint64_t drains; /* as of which the senders are known to be alive */
	struct pushed_counts counts;
};

void pushed_init(struct pushed *p);
/* Begins to listen to @intake, whose sockets it owns then. A negative errno. */
int pushed_start(struct pushed *p, const struct intake *intake);
/* Takes what has come, from @first on, to those waiting, or counts it as dropped; there have been
 * @samples so far. */
void pushed_put(struct pushed *p, struct letter *first, uint64_t samples);
/* The same of what is in the inbox. */
void pushed_receive(struct pushed *p, uint64_t samples);
/* Forgets the one of those waiting that @at points to; after it that is the next. */
void pushed_remove(struct pushed *p, struct letter **at);
/* Ends listening: what was sent before is waiting then, the rest is counted. */
void pushed_stop(struct pushed *p, uint64_t samples);
void pushed_done(struct pushed *p);

/* Spends @cost_ns of what is saved, up to @burst_ns, if there is as much. */
bool rate_take(struct rate *r, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns);
/* Afterwards it has cost @cost_ns more: what is not saved has to pass first. */
void rate_charge(struct rate *r, uint64_t cost_ns);

#endif
