/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A bounded queue of lines for one listener, such as the recorder: it never blocks; lines that do
 * not fit are counted, for that listener alone. A run has a list of feeds.
 */
#ifndef MEASURE_FEED_H
#define MEASURE_FEED_H

#include "base/json.h"
#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_QUARTER (1UL << 20)    /* of the bytes that may wait in one */
#define FEED_OWN_BYTES (64UL << 10) /* that each may hold */

/* What several feeds may hold together, beyond FEED_OWN_BYTES in each: those of one user. */
struct feed_budget {
	bool (*may_hold)(void *context, size_t bytes); /* so many more */
	void *context;
};

struct feed {
	struct feed *next;                /* not owned */
	const struct feed_budget *budget; /* not owned; NULL: none */
	int fd;                           /* not owned */
	char *queue;                      /* owned */
	size_t start, used, room;         /* it gives its memory back when all has been sent */
	size_t most;                      /* bytes that may wait; 0: FEED_QUARTER * 4 */
	bool is_bound;                    /* by its budget, until all has been sent */
	bool is_broken;                   /* it has no reader any more */
	bool is_ended;                    /* nothing will be put any more: its job is over */
	bool is_live;         /* its reader is not waited for; it takes no spare lines */
	bool wants_processes; /* all that are alive, at each sample, */
	bool shows_all;       /* with what they execute, whichever users they are of */
	uint64_t dropped;     /* lines that did not fit */
	uint64_t spared;      /* lines of feeds_put_spare() that were not taken */
};

struct feeds {
	struct feed *first;               /* not owned */
	const struct feed_budget *budget; /* of listeners that are added later; not owned */
};

void feed_init(struct feed *f, int fd);
void feed_done(struct feed *f);
/* From now on no more than @bytes may wait in it. */
void feed_limit(struct feed *f, size_t bytes);
/* Queues @text, counted as one line. */
void feed_put(struct feed *f, const char *text, size_t n);
/* Sends what can be sent at once. */
void feed_flush(struct feed *f);
/*
 * Waits until all has been sent or there is no reader any more; when the patience ends the feed is
 * broken, too. For a process that has nothing else to do any more.
 */
void feed_flush_whole(struct feed *f, struct patience *p);
/* True if something waits to be sent. */
static inline bool feed_is_waiting(const struct feed *f)
{
	return f->used > f->start && !f->is_broken;
}

void feeds_add(struct feeds *all, struct feed *f);
void feeds_remove(struct feeds *all, struct feed *f);
/* Queues the lines of @j in each feed, counted as one line; empties @j. */
void feeds_put(struct feeds *all, struct jsonw *j);
/*
 * The same for lines that are to leave room for others: a feed does not take them if more than
 * @most_bytes would wait in it then. False: no feed took them; the caller counts them.
 */
bool feeds_offer(struct feeds *all, struct jsonw *j, size_t most_bytes);
/* The same for @lines lines and FEED_QUARTER; each feed counts lines that it does not take. */
void feeds_put_spare(struct feeds *all, struct jsonw *j, uint64_t lines);
/*
 * Whether a feed wants all processes; and queues those in @j, @lines lines, in each that does. Of
 * feeds that are shown all of them, or of the others.
 */
bool feeds_want_processes(const struct feeds *all, bool shows_all);
void feeds_put_processes(struct feeds *all, bool shows_all, const struct jsonw *j, uint64_t lines);
void feeds_flush(struct feeds *all);
/* True if no feed that is waited for has anything to send. */
bool feeds_are_empty(const struct feeds *all);
/* True if at least half of each queue that is waited for is free, so that a line that is put now is
 * not dropped there. */
bool feeds_have_room(const struct feeds *all);

#endif
