// SPDX-License-Identifier: BSD-2-Clause
#include "base/message.h"

#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PART_BYTES (sizeof(((struct control *)0)->text) - 1)

static bool type_is_in_parts(uint32_t type)
{
	return type >= CONTROL_REQUEST && type <= CONTROL_CLIENT;
}

static int part_send(int fd, struct control *part, const int *fds, size_t nr_fds, int patience_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	struct iovec at = { part, sizeof(*part) };
	struct msghdr h = { .msg_iov = &at, .msg_iovlen = 1 };
	union passed_fds r = { 0 };
	int n;

	fds_put(&h, &r, fds, nr_fds);
	while (sendmsg(fd, &h, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		n = poll(&p, 1, patience_ms);
		if (!n || (n < 0 && errno != EINTR))
			return n ? -errno : -ETIMEDOUT;
	}
	return 0;
}

int message_send(int fd, enum control_type type, const char *text, size_t length, const int *fds,
		 size_t nr_fds, int patience_ms)
{
	int err = length && nr_fds <= MESSAGE_FDS ? 0 : -EINVAL;

	for (size_t done = 0; !err && done < length;) {
		size_t n = length - done < PART_BYTES ? length - done : PART_BYTES;
		struct control part = { .type = type,
					.value = (int32_t)n,
					.when_ns = length - done - n };

		memcpy(part.text, text + done, n);
		err = part_send(fd, &part, fds, done ? 0 : nr_fds, patience_ms);
		done += n;
	}
	return err;
}

int message_send_json(int fd, enum control_type type, struct jsonw *j, const int *fds,
		      size_t nr_fds, int patience_ms)
{
	int err = j->failed ? -ENOMEM
			    : message_send(fd, type, j->text, j->used, fds, nr_fds, patience_ms);

	jsonw_done(j);
	return err;
}

int message_add(struct message *m, const struct control *part)
{
	size_t n = (size_t)part->value;

	if (!type_is_in_parts(part->type) || part->value < 1 || n > PART_BYTES)
		return -EBADMSG;
	if (!m->type) {
		if (n > m->limit || part->when_ns > m->limit - n)
			return -EMSGSIZE;
		m->text = memory_malloc(n + part->when_ns + 1);
		if (!m->text)
			return -ENOMEM;
		m->length = n + part->when_ns;
		m->type = part->type;
	}
	if (part->type != m->type || part->when_ns > m->length || m->length - part->when_ns < n ||
	    m->length - part->when_ns - n != m->used)
		return -EBADMSG;
	memcpy(m->text + m->used, part->text, n);
	m->used += n;
	m->text[m->used] = '\0';
	return message_is_whole(m);
}

/*
 * Moves descriptors that came with a packet to @m and closes those without room. Returns how many
 * came.
 */
static size_t packet_keep_fds(struct msghdr *h, struct message *m)
{
	int fds[FDS_AT_ONCE];
	size_t nr = fds_read(h, fds);

	for (size_t i = 0; i < nr; i++)
		if (m && m->nr_fds < MESSAGE_FDS)
			m->fds[m->nr_fds++] = fds[i];
		else
			close(fds[i]);
	return nr;
}

/*
 * Returns true if a receive of @n bytes is to be repeated. A peer that closes its socket with
 * unread packets sets ECONNRESET once; the packets that it sent before are still in the queue.
 */
static bool receive_failed_once(ssize_t n)
{
	return n < 0 && (errno == EINTR || errno == ECONNRESET);
}

/*
 * Peeks at the next packet. Returns 0 if it has no descriptors, else -1 with errno EPERM. Nothing
 * is taken from the queue, so no descriptor is closed here.
 */
static int packet_check_plain(int fd)
{
	char byte;
	struct iovec at = { &byte, sizeof(byte) };
	struct msghdr h = { .msg_iov = &at, .msg_iovlen = 1 };
	ssize_t n;

	do
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_PEEK);
	while (receive_failed_once(n));
	if (n < 0)
		return -1;
	if (!(h.msg_flags & MSG_CTRUNC))
		return 0;
	errno = EPERM;
	return -1;
}

/* If no packet is queued now, the next one has not been checked: do not receive. */
ssize_t message_receive_plain(int fd, void *bytes, size_t size)
{
	ssize_t n;

	if (packet_check_plain(fd))
		return -1;
	do
		n = recv(fd, bytes, size, MSG_DONTWAIT);
	while (receive_failed_once(n));
	return n;
}

/* Takes the descriptors of a packet: only the first packet of a message may have any. */
static int packet_take_fds(struct message *m, struct msghdr *h)
{
	bool has_room = !m->nr_fds && !m->type;

	if (packet_keep_fds(h, has_room ? m : NULL) && !has_room)
		return -EBADMSG;
	return h->msg_flags & MSG_CTRUNC ? -EMFILE : 0;
}

/* Receives one packet. Returns as message_receive(). */
static int packet_receive(struct message *m, int fd, struct control *c)
{
	struct iovec at = { c, sizeof(*c) };
	union passed_fds r = { 0 };
	struct msghdr h = { .msg_iov = &at,
			    .msg_iovlen = 1,
			    .msg_control = r.room,
			    .msg_controllen = sizeof(r.room) };
	const size_t nr_fds = m->nr_fds;
	ssize_t n;
	int err;

	if (m->is_untrusted && packet_check_plain(fd))
		return -errno;
	do
		n = recvmsg(fd, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (receive_failed_once(n));
	if (n < 0)
		return -errno;
	if (!n)
		return 0;
	err = packet_take_fds(m, &h);
	if (!err && (n != sizeof(*c) || h.msg_flags & MSG_TRUNC))
		err = -EBADMSG;
	if (!err && m->nr_fds > nr_fds && !type_is_in_parts(c->type))
		err = -EBADMSG;
	c->text[sizeof(c->text) - 1] = '\0';
	return err ? err : 1;
}

int message_receive(struct message *m, int fd, struct control *c)
{
	int got;

	for (;;) {
		got = packet_receive(m, fd, c);
		if (got != 1 || !type_is_in_parts(c->type))
			return got;
		got = message_add(m, c);
		if (got)
			return got;
	}
}

int message_take_packet(struct message *m, const struct control *c)
{
	if (type_is_in_parts(c->type))
		return message_add(m, c);
	return m->nr_fds ? -EBADMSG : 1;
}

void message_discard(struct message *m, struct discard *d)
{
	for (size_t i = 0; i < m->nr_fds; i++) {
		if (m->fds[i] >= 0)
			descriptor_discard(d, m->fds[i]);
		m->fds[i] = -1;
	}
	message_done(m);
}

void message_done(struct message *m)
{
	for (size_t i = 0; i < m->nr_fds; i++)
		if (m->fds[i] >= 0)
			close(m->fds[i]);
	free(m->text);
	*m = (struct message){ .limit = m->limit, .is_untrusted = m->is_untrusted };
}

int control_send(int fd, enum control_type type, int value, uint64_t when_ns, const char *text)
{
	struct control m = { .type = type, .value = value, .when_ns = when_ns };

	snprintf(m.text, sizeof(m.text), "%s", text ? text : "");
	return send(fd, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

bool control_has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents & POLLOUT;
}

int control_receive(int fd, struct control *message)
{
	ssize_t n;

	do
		n = recv(fd, message, sizeof(*message), 0);
	while (receive_failed_once(n));
	if (n < 0)
		return -errno;
	if (n == 0)
		return 0;
	message->text[sizeof(message->text) - 1] = '\0';
	return n == sizeof(*message) ? 1 : -EBADMSG;
}
