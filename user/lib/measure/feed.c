// SPDX-License-Identifier: BSD-2-Clause
#include "measure/feed.h"

#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define QUEUE_BYTES (4 * FEED_QUARTER)
#define FLUSH_BYTES (32UL << 10)
#define PACKET_BYTES (32UL << 10) /* sent at once: SOCK_SEQPACKET takes no larger ones */

void feed_init(struct feed *f, int fd)
{
	*f = (struct feed){ .fd = fd };
}

void feed_done(struct feed *f)
{
	free(f->queue);
	*f = (struct feed){ .fd = -1 };
}

void feed_limit(struct feed *f, size_t bytes)
{
	f->most = bytes;
}

static size_t feed_most(const struct feed *f)
{
	if (f->is_bound)
		return f->room > FEED_OWN_BYTES ? f->room : FEED_OWN_BYTES;
	return f->most ? f->most : QUEUE_BYTES;
}

static bool feed_may_hold(struct feed *f, size_t room)
{
	if (room > feed_most(f))
		return false;
	if (f->budget && room > FEED_OWN_BYTES)
		f->is_bound = !f->budget->may_hold(f->budget->context, room - f->room);
	return !f->is_bound;
}

static void feed_empty(struct feed *f)
{
	f->start = f->used = 0;
	f->is_bound = false;
	if (f->room <= FEED_OWN_BYTES)
		return;
	free(f->queue);
	f->queue = NULL;
	f->room = 0;
}

static bool feed_make_room(struct feed *f, size_t n)
{
	size_t room;
	char *queue;

	if (f->start) {
		memmove(f->queue, f->queue + f->start, f->used - f->start);
		f->used -= f->start;
		f->start = 0;
	}
	if (f->used + n <= f->room)
		return true;
	room = f->room ? f->room : FEED_OWN_BYTES;
	while (room < f->used + n)
		room *= 2;
	if (!feed_may_hold(f, room))
		return false;
	queue = memory_realloc(f->queue, room);
	if (!queue)
		return false;
	f->queue = queue;
	f->room = room;
	return true;
}

/* Returns false if the reader is gone or there is no room. */
static bool feed_append(struct feed *f, const char *text, size_t n)
{
	if (f->is_broken || (f->used + n > f->room && !feed_make_room(f, n)))
		return false;
	memcpy(f->queue + f->used, text, n);
	f->used += n;
	return true;
}

static size_t feed_waiting(const struct feed *f)
{
	return f->used - f->start;
}

void feed_put(struct feed *f, const char *text, size_t n)
{
	if (!feed_append(f, text, n))
		f->dropped += !f->is_broken;
	if (feed_waiting(f) > FLUSH_BYTES)
		feed_flush(f);
}

static bool feed_offer(struct feed *f, const char *text, size_t n, size_t most_bytes)
{
	if (feed_waiting(f) + n > FLUSH_BYTES)
		feed_flush(f);
	return feed_waiting(f) + n <= most_bytes && feed_append(f, text, n);
}

void feed_flush(struct feed *f)
{
	while (feed_is_waiting(f)) {
		size_t most = f->used - f->start < PACKET_BYTES ? f->used - f->start : PACKET_BYTES;
		ssize_t n = send(f->fd, f->queue + f->start, most, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			f->is_broken = errno != EAGAIN && errno != ENOBUFS;
			return;
		}
		f->start += (size_t)n;
	}
	feed_empty(f);
}

void feed_flush_whole(struct feed *f, struct patience *p)
{
	for (feed_flush(f); feed_is_waiting(f); feed_flush(f))
		if (patience_wait(p, f->fd, POLLOUT))
			f->is_broken = true;
}

void feeds_add(struct feeds *all, struct feed *f)
{
	f->next = all->first;
	all->first = f;
}

void feeds_remove(struct feeds *all, struct feed *f)
{
	struct feed **at = &all->first;

	while (*at && *at != f)
		at = &(*at)->next;
	if (*at)
		*at = f->next;
	f->next = NULL;
}

void feeds_put(struct feeds *all, struct jsonw *j)
{
	for (struct feed *f = all->first; f; f = f->next)
		if (j->failed)
			f->dropped += !f->is_broken;
		else
			feed_put(f, j->text, j->used);
	jsonw_reset(j);
}

bool feeds_offer(struct feeds *all, struct jsonw *j, size_t most_bytes)
{
	bool is_taken = false;

	for (struct feed *f = all->first; f; f = f->next)
		if (!j->failed && feed_offer(f, j->text, j->used, most_bytes))
			is_taken = true;
	jsonw_reset(j);
	return is_taken;
}

void feeds_put_spare(struct feeds *all, struct jsonw *j, uint64_t lines)
{
	for (struct feed *f = all->first; f; f = f->next)
		if (!f->is_live && (j->failed || !feed_offer(f, j->text, j->used, FEED_QUARTER)) &&
		    !f->is_broken)
			f->spared += lines;
	jsonw_reset(j);
}

static bool feed_takes_processes(const struct feed *f, bool shows_all)
{
	return f->wants_processes && f->shows_all == shows_all && !f->is_broken;
}

bool feeds_want_processes(const struct feeds *all, bool shows_all)
{
	for (const struct feed *f = all->first; f; f = f->next)
		if (feed_takes_processes(f, shows_all))
			return true;
	return false;
}

void feeds_put_processes(struct feeds *all, bool shows_all, const struct jsonw *j, uint64_t lines)
{
	for (struct feed *f = all->first; f; f = f->next)
		if (feed_takes_processes(f, shows_all) &&
		    (j->failed || !feed_offer(f, j->text, j->used, feed_most(f) - FEED_QUARTER)))
			f->spared += lines;
}

void feeds_flush(struct feeds *all)
{
	for (struct feed *f = all->first; f; f = f->next)
		feed_flush(f);
}

bool feeds_have_room(const struct feeds *all)
{
	for (const struct feed *f = all->first; f; f = f->next)
		if (!f->is_broken && !f->is_live && feed_waiting(f) > feed_most(f) / 2)
			return false;
	return true;
}

bool feeds_are_empty(const struct feeds *all)
{
	for (const struct feed *f = all->first; f; f = f->next)
		if (!f->is_live && feed_is_waiting(f))
			return false;
	return true;
}
