// SPDX-License-Identifier: BSD-2-Clause
#include "push/datagrams.h"

#include "base/clock.h"
#include "base/log.h"
#include "push/batch.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_NS (60 * NSEC_PER_SEC)
#define DATAGRAM_BYTES 1400 /* fits into a frame of Ethernet; a longer line goes alone */

void datagrams_init(struct datagrams *d, const struct target *t)
{
	*d = (struct datagrams){ .target = t, .fd = -1 };
}

void datagrams_done(struct datagrams *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static void say_why(struct datagrams *d, const char *why)
{
	if (!d->said_why)
		log_warn("cannot send to %s: %s; lines are dropped", d->target->shown, why);
	d->said_why = true;
}

/* Finds the host, again until that succeeds. */
static bool datagrams_open(struct datagrams *d)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *found = NULL;
	int err;

	if (d->fd >= 0)
		return true;
	if (clock_ns(CLOCK_MONOTONIC) < d->next_ns)
		return false;
	err = getaddrinfo(d->target->udp_host, d->target->udp_port, &hints, &found);
	if (err) {
		say_why(d, gai_strerror(err));
		/* the stream waits meanwhile: not at each interval */
		d->next_ns = clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
		return false;
	}
	for (const struct addrinfo *a = found; a && d->fd < 0; a = a->ai_next) {
		d->fd = socket(a->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		err = d->fd < 0 ? errno : 0;
		if (d->fd >= 0 && connect(d->fd, a->ai_addr, a->ai_addrlen)) {
			err = errno;
			datagrams_done(d);
		}
	}
	freeaddrinfo(found);
	if (d->fd >= 0)
		return true;
	say_why(d, strerror(err));
	d->next_ns = clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
	return false;
}

/* Returns the length of the first lines that fit into a datagram, at least one. */
static size_t datagram_cut(const char *text, size_t length, size_t *lines)
{
	size_t at = 0, n;

	for (*lines = 0; at < length; (*lines)++, at += n) {
		n = batch_skip(text + at, length - at, 1);
		if (*lines && at + n > DATAGRAM_BYTES)
			break;
	}
	return at;
}

void datagrams_send(struct datagrams *d, const struct buffer *t, uint64_t *sent, uint64_t *dropped)
{
	bool is_open = datagrams_open(d);
	size_t lines;

	for (size_t at = 0, n; at < t->used; at += n) {
		n = datagram_cut(t->text + at, t->used - at, &lines);
		/* an earlier one may have come back as refused: the error is not of this one */
		if (is_open && (send(d->fd, t->text + at, n, MSG_NOSIGNAL) == (ssize_t)n ||
				(errno == ECONNREFUSED &&
				 send(d->fd, t->text + at, n, MSG_NOSIGNAL) == (ssize_t)n))) {
			*sent += lines;
			continue;
		}
		if (is_open)
			say_why(d, strerror(errno));
		*dropped += lines;
	}
}
