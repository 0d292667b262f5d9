/* SPDX-License-Identifier: BSD-2-Clause */
/* The way to the recorder: never blocks the collector; what does not fit is counted. */
#ifndef FEED_STREAM_H
#define FEED_STREAM_H

#include "base/json.h"
#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_QUARTER (1UL << 20) /* of the bytes that it holds at most */

struct stream {
	int fd;
	char *queue; /* owned */
	size_t start, used, room;
	struct patience *patience; /* with the recorder, not owned; NULL: without end */
	bool is_broken;            /* nobody reads it any more */
	uint64_t dropped;          /* lines that did not fit */
	uint64_t spared;           /* lines of stream_put_spare() that were not taken */
};

void stream_init(struct stream *s, int fd);
void stream_done(struct stream *s);
/* Takes the lines of @j, counted as one, and empties it. */
void stream_put(struct stream *s, struct json *j);
/* The same of lines that are to leave room for others: false, and they are not taken, if more than
 * @most_bytes would wait then. Who offers them counts them. */
bool stream_offer(struct stream *s, struct json *j, size_t most_bytes);
/* The same of @lines lines and a quarter; what is not taken is counted here. */
void stream_put_spare(struct stream *s, struct json *j, uint64_t lines);
/* Sends what can be sent at once. */
void stream_flush(struct stream *s);
/* Waits until all has been sent, or nobody reads it: broken, too, when the patience ends. */
void stream_flush_whole(struct stream *s);
static inline bool stream_is_waiting(const struct stream *s)
{
	return s->used > s->start && !s->is_broken;
}

#endif
