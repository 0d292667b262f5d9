/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded queue of lines for one listener, for example the recorder. It never blocks: lines that
 * do not fit are counted as dropped for that listener only. A run has a list of feeds.
 */
#ifndef MEASURE_FEED_H
#define MEASURE_FEED_H

#include "base/json.h"
#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_QUARTER (1UL << 20)    /* a quarter of the bytes that may be queued by default */
#define FEED_OWN_BYTES (64UL << 10) /* that each feed may hold outside of its budget */

/* A limit that several feeds of one user share, for memory beyond FEED_OWN_BYTES of each. */
struct feed_budget {
	/* returns true if @bytes more are allowed */
	bool (*may_hold)(void *context, size_t bytes);
	void *context;
};

struct feed {
	struct feed *next;                /* not owned */
	const struct feed_budget *budget; /* not owned; may be NULL */
	int fd;                           /* not owned */
	char *queue;                      /* owned */
	size_t start, used, room; /* a queue above FEED_OWN_BYTES is freed when all is sent */
	size_t most;              /* limit of queued bytes; 0: FEED_QUARTER * 4 */
	bool is_bound;            /* the budget refused more memory; reset when all is sent */
	bool is_broken;           /* its reader is gone */
	bool is_ended;            /* no more lines will come: its job is over */
	bool is_live;             /* its reader is never waited for; takes no spare lines */
	bool wants_processes;     /* all live processes at each sample */
	bool shows_all;           /* with their executables, of all users */
	uint64_t dropped;         /* lines that did not fit */
	uint64_t spared;          /* lines of feeds_put_spare() that were not queued */
};

struct feeds {
	struct feed *first;               /* not owned */
	const struct feed_budget *budget; /* not owned; for listeners that are added later */
};

void feed_init(struct feed *f, int fd);
void feed_done(struct feed *f);
/* Limits the queue to @bytes. */
void feed_limit(struct feed *f, size_t bytes);
void feed_put(struct feed *f, const char *text, size_t n);
/* Sends what the socket takes without blocking. */
void feed_flush(struct feed *f);
/*
 * Waits until all has been sent or the reader is gone. Marks the feed as broken when @p runs out.
 * For a process that has nothing else left to do.
 */
void feed_flush_whole(struct feed *f, struct patience *p);
static inline bool feed_is_waiting(const struct feed *f)
{
	return f->used > f->start && !f->is_broken;
}

void feeds_add(struct feeds *all, struct feed *f);
void feeds_remove(struct feeds *all, struct feed *f);
/* Queues the text of @j in each feed, counted as one line, and empties @j. */
void feeds_put(struct feeds *all, struct jsonw *j);
/*
 * Queues lines of low priority: a feed refuses them if more than @most_bytes would then be queued.
 * Empties @j. Returns false if no feed took them; the caller counts the loss.
 */
bool feeds_offer(struct feeds *all, struct jsonw *j, size_t most_bytes);
/* Like feeds_offer() with FEED_QUARTER. Each feed counts the @lines lines that it refuses. */
void feeds_put_spare(struct feeds *all, struct jsonw *j, uint64_t lines);
/* Returns true if a feed wants all processes and has this value of @shows_all. */
bool feeds_want_processes(const struct feeds *all, bool shows_all);
/* Queues the @lines lines of @j, without emptying it, in each such feed. */
void feeds_put_processes(struct feeds *all, bool shows_all, const struct jsonw *j, uint64_t lines);
void feeds_flush(struct feeds *all);
/* Returns true if no feed, live ones aside, has anything to send. */
bool feeds_are_empty(const struct feeds *all);
/*
 * Returns true if at least half of each queue, live ones aside, is free, so that the next line is
 * not dropped.
 */
bool feeds_have_room(const struct feeds *all);

#endif
