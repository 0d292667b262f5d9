// SPDX-License-Identifier: BSD-2-Clause
#include "feed/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A recorder that hangs longer than this holds loses lines. */
#define QUEUE_BYTES (4 * STREAM_QUARTER)
#define FLUSH_BYTES (32UL << 10)

void stream_init(struct stream *s, int fd)
{
	*s = (struct stream){ .fd = fd };
}

void stream_done(struct stream *s)
{
	free(s->queue);
	*s = (struct stream){ .fd = -1 };
}

static bool make_room(struct stream *s, size_t n)
{
	size_t room;
	char *queue;

	if (s->start) {
		memmove(s->queue, s->queue + s->start, s->used - s->start);
		s->used -= s->start;
		s->start = 0;
	}
	if (s->used + n <= s->room)
		return true;
	room = s->room ? s->room : FLUSH_BYTES * 2;
	while (room < s->used + n)
		room *= 2;
	if (room > QUEUE_BYTES)
		return false;
	queue = realloc(s->queue, room);
	if (!queue)
		return false;
	s->queue = queue;
	s->room = room;
	return true;
}

/* False: nobody reads it, or there is no room for it. */
static bool append(struct stream *s, const struct json *j)
{
	if (s->is_broken || j->failed || (s->used + j->used > s->room && !make_room(s, j->used)))
		return false;
	memcpy(s->queue + s->used, j->text, j->used);
	s->used += j->used;
	return true;
}

static size_t waiting(const struct stream *s)
{
	return s->used - s->start;
}

void stream_put(struct stream *s, struct json *j)
{
	if (!append(s, j))
		s->dropped += !s->is_broken;
	jw_reset(j);
	if (waiting(s) > FLUSH_BYTES)
		stream_flush(s);
}

bool stream_offer(struct stream *s, struct json *j, size_t most_bytes)
{
	bool fits;

	if (waiting(s) + j->used > FLUSH_BYTES)
		stream_flush(s);
	fits = waiting(s) + j->used <= most_bytes && append(s, j);
	jw_reset(j);
	return fits;
}

void stream_put_spare(struct stream *s, struct json *j, uint64_t lines)
{
	if (!stream_offer(s, j, STREAM_QUARTER) && !s->is_broken)
		s->spared += lines;
}

void stream_flush(struct stream *s)
{
	while (stream_is_waiting(s)) {
		ssize_t n = send(s->fd, s->queue + s->start, s->used - s->start,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			s->is_broken = errno != EAGAIN && errno != ENOBUFS;
			return;
		}
		s->start += (size_t)n;
	}
	s->start = s->used = 0;
}

void stream_flush_whole(struct stream *s)
{
	for (stream_flush(s); stream_is_waiting(s); stream_flush(s))
		if (patience_wait(s->patience, s->fd, POLLOUT))
			s->is_broken = true;
}
