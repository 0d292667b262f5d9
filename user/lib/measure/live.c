// SPDX-License-Identifier: BSD-2-Clause
#include "measure/live.h"

#include "measure/tally_view.h"
#include "run/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define QUEUE_BYTES (16UL << 20) /* some samples with all processes of a large run */

void live_init(struct live *l, struct loop *loop, struct tally_view *v)
{
	l->loop = loop;
	l->view = v;
	for (size_t i = 0; i < LIVE_LISTENERS; i++)
		l->all[i].source.fd = -1;
}

static void live_listener_remove(struct live_listener *one)
{
	feeds_remove(&one->live->view->feeds, &one->feed);
	loop_remove(one->live->loop, &one->source);
	socket_discard(&one->live->loop->discard, one->source.fd);
	feed_done(&one->feed);
	one->source.fd = -1;
}

static void live_ready(void *context, uint32_t events)
{
	struct live_listener *one = context;

	if (events & (EPOLLERR | EPOLLHUP))
		live_listener_remove(one);
	else
		feed_flush(&one->feed);
}

static bool live_may_see(int fd, const struct run *run, uid_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	*uid = peer.uid;
	return !peer.uid || peer.uid == run->uid;
}

static struct live_listener *live_free_slot(struct live *l)
{
	for (size_t i = 0; i < LIVE_LISTENERS; i++)
		if (l->all[i].source.fd < 0)
			return &l->all[i];
	return NULL;
}

/* Sends what a listener from the start would have by now. */
static void live_send_first_lines(struct live_listener *one)
{
	struct tally_view *v = one->live->view;

	write_meta(&v->json, v->run);
	feed_put(&one->feed, v->json.text, v->json.used);
	jsonw_reset(&v->json);
	tally_view_put_latest(v, &one->feed);
}

int live_take(struct live *l, int fd, bool processes, char *why, size_t size)
{
	struct live_listener *one = live_free_slot(l);
	uid_t uid;

	if (!live_may_see(fd, l->view->run, &uid)) {
		snprintf(why, size,
			 "the run belongs to another user; only that user and root can watch it");
		return -EPERM;
	}
	if (!one) {
		snprintf(why, size, "%d others are already watching the run, which is the limit",
			 LIVE_LISTENERS);
		return -EUSERS;
	}
	one->live = l;
	one->waits = false;
	one->source = (struct loop_source){ fd, live_ready, one };
	if (loop_add(l->loop, &one->source, 0)) {
		one->source.fd = -1;
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	feed_init(&one->feed, fd);
	feed_limit(&one->feed, QUEUE_BYTES);
	/* root's is not charged to the user */
	one->feed.budget = uid ? l->view->feeds.budget : NULL;
	one->feed.is_live = true;
	one->feed.wants_processes = processes;
	feeds_add(&l->view->feeds, &one->feed);
	live_send_first_lines(one);
	feed_flush(&one->feed);
	return 0;
}

void live_watch(struct live *l)
{
	for (size_t i = 0; i < LIVE_LISTENERS; i++) {
		struct live_listener *one = &l->all[i];
		bool waits = one->source.fd >= 0 && feed_is_waiting(&one->feed);

		if (one->source.fd >= 0 && waits != one->waits)
			loop_change(l->loop, &one->source, waits ? EPOLLOUT : 0);
		one->waits = waits;
	}
}

size_t live_held(const struct live *l)
{
	size_t bytes = 0;

	for (size_t i = 0; i < LIVE_LISTENERS; i++)
		if (l->all[i].source.fd >= 0 && l->all[i].feed.budget)
			bytes += l->all[i].feed.room;
	return bytes;
}

void live_close(struct live *l)
{
	for (size_t i = 0; i < LIVE_LISTENERS; i++) {
		if (l->all[i].source.fd < 0)
			continue;
		feed_flush(&l->all[i].feed);
		live_listener_remove(&l->all[i]);
	}
}
