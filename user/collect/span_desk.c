// SPDX-License-Identifier: BSD-2-Clause
#include "collect/span_desk.h"

#include "base/span_call.h"
#include "base/text.h"
#include "job/job.h"
#include "wire/span_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLERS_AT_ONCE 64 /* ticks and records get their turn in between */

void span_desk_init(struct span_desk *d)
{
	d->source.fd = -1;
	for (size_t i = 0; i < SPAN_CALLERS; i++)
		d->callers[i].source.fd = -1;
}

static pid_t caller_pid(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) ? 0 : peer.pid;
}

/* Carries out the message, and writes the answer. */
static void message_answer(struct span_desk *d, int fd, const char *text, size_t length)
{
	char why[SPAN_ANSWER_BYTES - 1], answer[SPAN_ANSWER_BYTES];
	struct span_message m;
	uint64_t id;
	int err = span_message_read(&m, text, length, why, sizeof(why));

	if (!err)
		err = span_obey(d->job, &m, caller_pid(fd), &id, why, sizeof(why));
	span_message_done(&m);
	if (err) {
		snprintf(answer, sizeof(answer), "%s", why);
		text_disarm(answer); /* it may have the name of a span */
	} else {
		snprintf(answer, sizeof(answer), "%" PRIu64, id);
	}
	send(fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* False: its message has yet to come. */
static bool caller_serve(struct span_desk *d, int fd)
{
	char text[SPAN_MESSAGE_BYTES + 1];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	if (n > 0)
		message_answer(d, fd, text, (size_t)n);
	return true;
}

static void caller_dismiss(struct span_caller *c)
{
	close(c->source.fd); /* which takes it out of the loop */
	c->source.fd = -1;
}

static void caller_ready(void *context, uint32_t events)
{
	struct span_caller *c = context;

	if (events & (EPOLLERR | EPOLLHUP) || caller_serve(c->desk, c->source.fd))
		caller_dismiss(c);
}

/* A free place, or that of the connection that has been silent for the longest. */
static struct span_caller *caller_place(struct span_desk *d)
{
	struct span_caller *oldest = d->callers;

	for (size_t i = 0; i < SPAN_CALLERS; i++) {
		struct span_caller *c = &d->callers[i];

		if (c->source.fd < 0)
			return c;
		if (c->came < oldest->came)
			oldest = c;
	}
	caller_dismiss(oldest);
	return oldest;
}

static void caller_keep(struct span_desk *d, int fd)
{
	struct span_caller *c = caller_place(d);

	*c = (struct span_caller){ .source = { fd, caller_ready, c },
				   .desk = d,
				   .came = d->nr_came++ };
	if (loop_add(d->loop, &c->source, EPOLLIN))
		caller_dismiss(c);
}

static void callers_accept(void *context, uint32_t events)
{
	struct span_desk *d = context;

	(void)events;
	for (int i = 0; i < CALLERS_AT_ONCE; i++) {
		int fd = accept4(d->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		if (caller_serve(d, fd))
			close(fd);
		else
			caller_keep(d, fd);
	}
}

int span_desk_open(struct span_desk *d, int fd, struct loop *loop, struct job *job)
{
	d->loop = loop;
	d->job = job;
	d->source = (struct loop_source){ fd, callers_accept, d };
	return fd < 0 ? 0 : loop_add(loop, &d->source, EPOLLIN);
}

void span_desk_close(struct span_desk *d)
{
	if (d->source.fd >= 0)
		close(d->source.fd);
	d->source.fd = -1;
	for (size_t i = 0; i < SPAN_CALLERS; i++)
		if (d->callers[i].source.fd >= 0)
			caller_dismiss(&d->callers[i]);
}
