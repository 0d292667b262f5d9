// SPDX-License-Identifier: BSD-2-Clause
#include "measure/inbox.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/span_call.h"
#include "base/message.h"
#include "base/stack.h"
#include "run/line_protocol.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAM_BYTES (64UL << 10) /* larger ones are dropped */
#define MOST_IDLE 100               /* wake-ups in a row without a datagram */
#define INBOX_DATAGRAMS 4096
#define INBOX_BYTES (4UL << 20)
#define PATIENCE_NS (5 * NSEC_PER_SEC) /* for the thread at the end */
#define LAST_DATAGRAMS 65536           /* per socket at the stop: a sender may never cease */
#define CLOCKS_APART_NS NSEC_PER_MSEC
#define OLDEST_NS (60 * NSEC_PER_SEC) /* an older timestamp means that the clock was set since */

/* Control data of a datagram. */
struct envelope {
	uint32_t pid;
	uint64_t sent_real_ns; /* 0: unknown */
};

/*
 * The control buffer has room for passed descriptors only if the client did not enable credentials
 * and timestamps. Closing one may block, so the function that stops the thread does it.
 */
static void inbox_keep_rights(struct inbox *box, const struct cmsghdr *c)
{
	const size_t nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < nr && box->nr_came < INBOX_CAME; i++)
		memcpy(&box->came[box->nr_came++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
}

static void envelope_read(struct inbox *box, struct msghdr *m, struct envelope *e)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred cred;

			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			e->pid = (uint32_t)cred.pid;
		} else if (c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec at;

			memcpy(&at, CMSG_DATA(c), sizeof(at));
			e->sent_real_ns = (uint64_t)at.tv_sec * NSEC_PER_SEC + (uint64_t)at.tv_nsec;
		} else if (c->cmsg_type == SCM_RIGHTS) {
			inbox_keep_rights(box, c);
		}
	}
}

/*
 * Converts the kernel's timestamp to the clocks of the run, which must be read within
 * CLOCKS_APART_NS.
 */
static void datagram_set_times(struct datagram *l, uint64_t sent_real_ns)
{
	uint64_t before, real, boot, mono, age;
	int tries = 10;

	do {
		before = clock_ns(CLOCK_MONOTONIC);
		real = clock_ns(CLOCK_REALTIME);
		boot = clock_ns(CLOCK_BOOTTIME);
		mono = clock_ns(CLOCK_MONOTONIC);
	} while (mono - before > CLOCKS_APART_NS && --tries);
	age = sent_real_ns && real > sent_real_ns ? real - sent_real_ns : 0;
	if (age > OLDEST_NS)
		age = 0;
	l->sent_ns = mono > age ? mono - age : 0;
	l->sent_boot_ns = boot > age ? boot - age : 0;
}

static uint64_t lines_count(const char *text, size_t length)
{
	return !length || mark_is_one(text, length) ? 1 : point_count_lines(text, length);
}

uint64_t datagram_count_lines(const struct datagram *l)
{
	return lines_count(l->text, l->length);
}

static struct datagram *datagram_make(const char *text, size_t length, const struct envelope *e)
{
	struct datagram *l = memory_malloc(sizeof(*l) + length + 1);

	if (!l)
		return NULL;
	*l = (struct datagram){ .pid = e->pid, .length = length };
	memcpy(l->text, text, length);
	l->text[length] = '\0';
	datagram_set_times(l, e->sent_real_ns);
	return l;
}

struct datagram *datagram_new(const char *text, size_t length, uint32_t pid)
{
	return datagram_make(text, length, &(struct envelope){ .pid = pid });
}

static void inbox_put(struct inbox *box, const char *text, size_t length, const struct envelope *e,
		      bool is_udp)
{
	struct datagram *l = datagram_make(text, length, e);
	bool fits = false;

	if (l)
		l->is_udp = is_udp;
	pthread_mutex_lock(&box->lock);
	fits = l && box->nr < INBOX_DATAGRAMS && box->bytes + length <= INBOX_BYTES;
	if (fits) {
		*box->last = l;
		box->last = &l->next;
		box->nr++;
		box->bytes += length;
	} else {
		box->dropped += lines_count(text, length);
	}
	pthread_mutex_unlock(&box->lock);
	if (!fits)
		free(l);
}

/* Such a mark would be refused later. A final newline is not counted. */
static bool mark_is_long(const char *text, size_t length)
{
	return mark_is_one(text, length) && length > strlen(MARK_PREFIX) + MARK_BYTES + 1;
}

/* Returns false if no datagram is left. */
static bool inbox_receive(struct inbox *box, int fd, char *text, bool is_udp)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(struct timespec))];
		struct cmsghdr aligned;
	} control;
	struct iovec io = { .iov_base = text, .iov_len = DATAGRAM_BYTES };
	struct msghdr m = {
		.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct envelope e = { 0 };
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EINTR;
	envelope_read(box, &m, &e);
	if (m.msg_flags & MSG_TRUNC || (!is_udp && mark_is_long(text, (size_t)n))) {
		pthread_mutex_lock(&box->lock);
		box->oversized++;
		pthread_mutex_unlock(&box->lock);
	} else {
		inbox_put(box, text, (size_t)n, &e, is_udp);
	}
	return true;
}

/* Receives up to @max datagrams of each socket. Returns false if there were none. */
static bool inbox_receive_all(struct inbox *box, char *text, int max)
{
	const struct intake *in = &box->intake;
	bool has_come = false;

	for (int i = 0; i < max && !box->nr_came && inbox_receive(box, in->marks_fd, text, false);
	     i++)
		has_come = true;
	for (size_t u = 0; u < UDP_SOCKETS; u++)
		for (int i = 0; i < max && inbox_receive(box, in->udp_fds[u], text, true); i++)
			has_come = true;
	if (has_come)
		eventfd_write(box->wake_fd, 1);
	return has_come;
}

/* A socket that another process has shut down polls ready for ever. */
static void pollfds_drop_ready(struct pollfd p[4])
{
	for (int i = 1; i < 4; i++)
		if (p[i].revents)
			p[i].fd = -1;
}

static void *inbox_receive_loop(void *context)
{
	struct inbox *box = context;
	unsigned nr_idle = 0;
	char *text = memory_malloc(DATAGRAM_BYTES);
	struct pollfd p[] = {
		{ .fd = box->stop_fd, .events = POLLIN },
		{ .fd = box->intake.marks_fd, .events = POLLIN },
		{ .fd = box->intake.udp_fds[0], .events = POLLIN },
		{ .fd = box->intake.udp_fds[1], .events = POLLIN },
	};

	while (text && !p[0].revents) {
		if (box->nr_came)
			p[1].fd = -1;
		if (poll(p, 4, -1) <= 0)
			continue;
		if (inbox_receive_all(box, text, p[0].revents ? LAST_DATAGRAMS : 256))
			nr_idle = 0;
		else if (++nr_idle > MOST_IDLE)
			pollfds_drop_ready(p);
	}
	free(text);
	box->has_ended = true;
	eventfd_write(box->wake_fd, 1);
	return NULL;
}

int inbox_start(struct inbox *box, const struct intake *intake)
{
	int err;

	*box = (struct inbox){
		.intake = *intake,
		.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	box->last = &box->first;
	pthread_mutex_init(&box->lock, NULL);
	err = box->wake_fd < 0 || box->stop_fd < 0 ? errno : 0;
	if (!err)
		err = stack_start_thread(&box->thread, inbox_receive_loop, box);
	if (!err)
		return 0;
	close(box->wake_fd);
	close(box->stop_fd);
	box->wake_fd = box->stop_fd = -1;
	return -err;
}

struct datagram *inbox_take(struct inbox *box)
{
	struct datagram *all;
	eventfd_t ignored;

	eventfd_read(box->wake_fd, &ignored);
	pthread_mutex_lock(&box->lock);
	all = box->first;
	box->first = NULL;
	box->last = &box->first;
	box->nr = box->bytes = 0;
	pthread_mutex_unlock(&box->lock);
	return all;
}

/*
 * Returns the number of datagrams that the kernel dropped: senders over UDP do not wait for room.
 */
static uint64_t socket_count_dropped(int fd)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t size = sizeof(info);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &size))
		return 0;
	return info[SK_MEMINFO_DROPS];
}

/* Senders that wait for room get an error at once. */
static void inbox_close_sockets(struct inbox *box)
{
	struct intake *in = &box->intake;

	for (size_t i = 0; in->discard && i < box->nr_came; i++)
		descriptor_discard(in->discard, box->came[i]);
	box->nr_came = 0;
	if (in->discard && in->marks_fd >= 0)
		socket_discard(in->discard, in->marks_fd);
	else
		cleanup_closep(&in->marks_fd);
	for (size_t i = 0; i < UDP_SOCKETS; i++)
		cleanup_closep(&in->udp_fds[i]);
	*in = (struct intake){ .marks_fd = -1, .udp_fds = { -1, -1 } };
}

bool inbox_request_stop(struct inbox *box)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (box->stop_fd < 0 || box->has_ended)
		return true;
	if (!box->asked_ns) {
		box->asked_ns = now_ns;
		eventfd_write(box->stop_fd, 1);
	}
	return now_ns - box->asked_ns >= PATIENCE_NS;
}

/*
 * Returns false if the thread hangs. A datagram may carry descriptors, which the kernel closes in
 * the receiving thread; that can block for as long as the sender likes.
 */
static bool inbox_join(struct inbox *box)
{
	struct pollfd wake = { .fd = box->wake_fd, .events = POLLIN };
	eventfd_t ignored;

	while (!inbox_request_stop(box)) {
		const uint64_t passed_ns = clock_ns(CLOCK_MONOTONIC) - box->asked_ns;
		const uint64_t left_ns = passed_ns < PATIENCE_NS ? PATIENCE_NS - passed_ns : 0;

		/* rounded up, not to wake too early */
		if (poll(&wake, 1, (int)(left_ns / NSEC_PER_MSEC) + 1) > 0)
			eventfd_read(box->wake_fd, &ignored);
	}
	return box->has_ended && !pthread_join(box->thread, NULL);
}

void inbox_stop(struct inbox *box)
{
	if (box->stop_fd < 0 || box->is_abandoned)
		return;
	if (!inbox_join(box)) {
		pthread_detach(box->thread);
		box->is_abandoned = true;
		return;
	}
	for (size_t i = 0; i < UDP_SOCKETS; i++)
		box->dropped += socket_count_dropped(box->intake.udp_fds[i]);
	inbox_close_sockets(box);
	close(box->stop_fd);
	box->stop_fd = -1;
}

bool inbox_pause(struct inbox *box)
{
	if (box->stop_fd < 0 || box->is_abandoned || !inbox_join(box))
		return false;
	close(box->stop_fd);
	box->stop_fd = -1;
	return true;
}

void inbox_done(struct inbox *box)
{
	if (box->wake_fd < 0)
		return;
	inbox_stop(box);
	if (box->is_abandoned) /* its thread may still run */
		return;
	for (struct datagram *l = inbox_take(box), *next; l; l = next) {
		next = l->next;
		free(l);
	}
	close(box->wake_fd);
	box->wake_fd = -1;
	pthread_mutex_destroy(&box->lock);
}
