/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way to one listener, as the recorder is: never blocks; what does not fit is counted, for that
 * listener alone. A run has a list of them.
 */
#ifndef FEED_FEED_H
#define FEED_FEED_H

#include "base/json.h"
#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FEED_QUARTER (1UL << 20) /* of the bytes that may wait in one */

struct feed {
	struct feed *next; /* not owned */
	int fd;            /* not owned */
	char *queue;       /* owned */
	size_t start, used, room;
	bool is_broken;   /* nobody reads it any more */
	uint64_t dropped; /* lines that did not fit */
	uint64_t spared;  /* lines of feeds_put_spare() that were not taken */
};

struct feeds {
	struct feed *first; /* not owned */
};

void feed_init(struct feed *f, int fd);
void feed_done(struct feed *f);
/* Queues @text, counted as one line. */
void feed_put(struct feed *f, const char *text, size_t n);
/* Sends what can be sent at once. */
void feed_flush(struct feed *f);
/*
 * Waits until all has been sent, or nobody reads it: broken, too, when the patience ends. For a
 * process that has nothing else to do any more.
 */
void feed_flush_whole(struct feed *f, struct patience *p);
/* Whether something waits to be sent. */
static inline bool feed_is_waiting(const struct feed *f)
{
	return f->used > f->start && !f->is_broken;
}

void feeds_add(struct feeds *all, struct feed *f);
void feeds_remove(struct feeds *all, struct feed *f);
/* Each takes the lines of @j, counted as one; empties it. */
void feeds_put(struct feeds *all, struct json *j);
/*
 * The same of lines that are to leave room for others: where more than @most_bytes would wait then,
 * they are not taken. False: by none; the caller counts them.
 */
bool feeds_offer(struct feeds *all, struct json *j, size_t most_bytes);
/* The same of @lines lines and a quarter; each counts what it does not take. */
void feeds_put_spare(struct feeds *all, struct json *j, uint64_t lines);
void feeds_flush(struct feeds *all);
/* Whether none has anything to send. */
bool feeds_are_empty(const struct feeds *all);
/* Whether half of the room of each is free, so that a line that is put now is not dropped. */
bool feeds_have_room(const struct feeds *all);

#endif
