// SPDX-License-Identifier: BSD-2-Clause
#include "http/connections.h"

#include "base/clock.h"

#include <string.h>
#include <sys/socket.h>

void connections_init(struct connections *c)
{
	memset(c, 0, sizeof(*c));
	pthread_mutex_init(&c->lock, NULL);
}

void connections_done(struct connections *c)
{
	pthread_mutex_destroy(&c->lock);
}

static struct connection *connections_find(struct connections *c, bool is_open, int fd)
{
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (c->list[i].is_open == is_open && (!is_open || c->list[i].fd == fd))
			return &c->list[i];
	return NULL;
}

void connections_open(struct connections *c, int fd, uint64_t now_ns)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, false, -1);
	if (at)
		*at = (struct connection){ .is_open = true, .fd = fd, .since_ns = now_ns };
	pthread_mutex_unlock(&c->lock);
}

void connections_close(struct connections *c, int fd)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	if (at)
		at->is_open = false;
	pthread_mutex_unlock(&c->lock);
}

void connections_answer(struct connections *c, int fd, uint64_t now_ns)
{
	struct connection *at;

	pthread_mutex_lock(&c->lock);
	at = connections_find(c, true, fd);
	if (at) {
		at->is_known = true;
		at->since_ns = now_ns;
	}
	pthread_mutex_unlock(&c->lock);
}

size_t connections_end_slow(struct connections *c, uint64_t now_ns)
{
	size_t nr = 0;

	/* under the lock no descriptor is closed, so that none has become another's */
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct connection *at = &c->list[i];
		uint64_t seconds =
			at->is_known ? CONNECTION_NEXT_SECONDS : CONNECTION_FIRST_SECONDS;

		if (!at->is_open || now_ns - at->since_ns < seconds * NSEC_PER_SEC)
			continue;
		shutdown(at->fd, SHUT_RDWR);
		at->since_ns = now_ns;
		nr++;
	}
	pthread_mutex_unlock(&c->lock);
	return nr;
}
