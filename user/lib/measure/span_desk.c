// SPDX-License-Identifier: BSD-2-Clause
#include "measure/span_desk.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/message.h"
#include "base/span_call.h"
#include "base/text.h"
#include "measure/job.h"
#include "measure/live.h"
#include "run/span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLERS_AT_ONCE 64 /* between these, ticks and records are handled */
/*
 * A caller is often preempted between connect and send, because its connect wakes the collector.
 * After this time without a message its slot can be taken.
 */
#define SILENCE_NS (2 * NSEC_PER_SEC)

void span_desk_init(struct span_desk *d)
{
	d->source.fd = -1;
	for (size_t i = 0; i < SPAN_CALLERS; i++)
		d->callers[i].source.fd = -1;
}

/* Identifies the sender, which works until it has ended. */
static int sender_find(const struct span_caller *c, struct peer_process *sender, char *why,
		       size_t size)
{
	int err = peer_process_read(c->source.fd, sender);

	sender->came_boot_ns = c->came_boot_ns;
	if (err == -ESRCH)
		snprintf(why, size, "the connecting process has ended");
	else if (err)
		snprintf(why, size, "%s", strerror(-err));
	return err;
}

/* Without a command, the socket only serves listeners. */
static int command_check(const struct span_desk *d, char *why, size_t size)
{
	if (d->job->spec->command)
		return 0;
	snprintf(why, size, "spans need a run that started the command, not an attachment");
	return -EPERM;
}

/* Handles a mark or metrics: what is not a JSON object. */
static int push_handle(struct span_desk *d, const struct span_caller *c, const char *text,
		       size_t length, char *why, size_t size)
{
	struct peer_process sender;
	int err = command_check(d, why, size);

	if (!err)
		err = sender_find(c, &sender, why, size);
	if (!err)
		err = sender_check(&d->job->spans, &sender, why, size);
	if (!err && length > SPAN_MESSAGE_BYTES) {
		snprintf(why, size, "more than %d bytes", SPAN_MESSAGE_BYTES);
		err = -EMSGSIZE;
	}
	if (err)
		return err;
	err = job_push(d->job, text, length, sender.pid);
	if (err)
		snprintf(why, size, "%s", strerror(-err));
	/* the run counts what is malformed, and takes the other lines */
	return err ? err : pushed_check(text, length, why, size);
}

struct span_answer {
	uint64_t id;
	bool is_to_stay; /* the caller must stay in the span */
};

/* Handles a JSON request. *@is_kept: the connection was taken for the lines of the run. */
static int object_handle(struct span_desk *d, const struct span_caller *c, const char *text,
			 size_t length, struct span_answer *answer, bool *is_kept, char *why,
			 size_t size)
{
	struct peer_process sender;
	struct span_message m;
	int err = span_message_read(&m, text, length, why, size);

	if (!err && m.is_live) {
		err = live_take(d->live, c->source.fd, m.wants_processes, why, size);
		*is_kept = !err;
	} else if (!err) {
		err = command_check(d, why, size);
		if (!err)
			err = sender_find(c, &sender, why, size);
		if (!err)
			err = span_handle_request(&d->job->spans, &m, &sender, &answer->id, why,
						  size);
		/* without BPF only the parent knows when a process ends */
		answer->is_to_stay = !m.is_end && !m.in_place && d->job->view.run->is_from_proc;
	}
	span_message_done(&m);
	return err;
}

/* Handles the message and sends the answer. Returns true if the connection was taken. */
static bool message_answer(struct span_desk *d, const struct span_caller *c, const char *text,
			   size_t length)
{
	char why[SPAN_ANSWER_BYTES - 1], answer[SPAN_ANSWER_BYTES];
	struct span_answer said = { 0 };
	bool is_kept = false;
	int err = *text == '{'
			  ? object_handle(d, c, text, length, &said, &is_kept, why, sizeof(why))
			  : push_handle(d, c, text, length, why, sizeof(why));

	if (is_kept)
		return true;
	if (err) {
		snprintf(answer, sizeof(answer), "%s", why);
		text_disarm(answer); /* it may contain the name of a span */
	} else {
		snprintf(answer, sizeof(answer), "%" PRIu64 "%s", said.id,
			 said.is_to_stay ? SPAN_KEPT : "");
	}
	send(c->source.fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
	return false;
}

static void connection_close(struct span_desk *d, int fd)
{
	if (d->refuses_rights)
		socket_close_plain(fd);
	else
		socket_discard(&d->loop->discard, fd);
}

enum served {
	SILENT, /* no message yet */
	FINISHED,
	TAKEN, /* owned by a listener now */
};

static enum served caller_serve(struct span_desk *d, const struct span_caller *c)
{
	char text[SPAN_MESSAGE_BYTES + 1];
	ssize_t n = message_receive_plain(c->source.fd, text, sizeof(text));

	if (n < 0)
		return errno != EAGAIN && errno != EINTR ? FINISHED : SILENT;
	return n > 0 && message_answer(d, c, text, (size_t)n) ? TAKEN : FINISHED;
}

static void caller_close(struct span_caller *c)
{
	struct span_desk *d = c->desk;

	if (!d->refuses_rights)
		loop_remove(d->loop, &c->source);
	connection_close(d, c->source.fd);
	c->source.fd = -1;
}

static void caller_ready(void *context, uint32_t events)
{
	struct span_caller *c = context;
	struct span_desk *d = c->desk;
	enum served served;

	if (events & (EPOLLERR | EPOLLHUP)) {
		caller_close(c);
		return;
	}
	loop_remove(d->loop, &c->source); /* if TAKEN, the new owner adds it again */
	served = caller_serve(d, c);
	if (served == FINISHED)
		caller_close(c);
	else if (served == TAKEN || loop_add(d->loop, &c->source, EPOLLIN))
		c->source.fd = -1;
}

static struct span_caller *caller_oldest(struct span_desk *d)
{
	struct span_caller *oldest = d->callers;

	for (size_t i = 1; i < SPAN_CALLERS; i++)
		if (d->callers[i].came_ns < oldest->came_ns)
			oldest = &d->callers[i];
	return oldest;
}

static struct span_caller *caller_free_place(struct span_desk *d)
{
	for (size_t i = 0; i < SPAN_CALLERS; i++)
		if (d->callers[i].source.fd < 0)
			return &d->callers[i];
	return NULL;
}

/* Returns a free slot, or takes that of a connection that was silent too long, else NULL. */
static struct span_caller *caller_place(struct span_desk *d, uint64_t now_ns)
{
	struct span_caller *place = caller_free_place(d);

	if (place)
		return place;
	place = caller_oldest(d);
	if (now_ns - place->came_ns < SILENCE_NS)
		return NULL;
	caller_close(place);
	return place;
}

static void caller_keep(struct span_desk *d, struct span_caller *c)
{
	if (loop_add(d->loop, &c->source, EPOLLIN))
		caller_close(c);
}

static void desk_set_full(struct span_desk *d, bool is_full)
{
	if (d->is_full != is_full && !loop_change(d->loop, &d->source, is_full ? 0 : EPOLLIN))
		d->is_full = is_full;
}

void span_desk_attend(struct span_desk *d)
{
	if (d->is_full && !discards_are_many(&d->loop->discard) &&
	    (caller_free_place(d) ||
	     clock_ns(CLOCK_MONOTONIC) - caller_oldest(d)->came_ns >= SILENCE_NS))
		desk_set_full(d, false);
}

int span_desk_wait(const struct span_desk *d, int wait_ms)
{
	const int most_ms = (int)(SILENCE_NS / NSEC_PER_MSEC);

	return !d->is_full || (wait_ms >= 0 && wait_ms < most_ms) ? wait_ms : most_ms;
}

/* The message is often there already. */
static void caller_take(struct span_desk *d, struct span_caller *c, int fd, uint64_t now_ns)
{
	enum served served;

	*c = (struct span_caller){ .source = { fd, caller_ready, c },
				   .desk = d,
				   .came_ns = now_ns,
				   .came_boot_ns = clock_ns(CLOCK_BOOTTIME) };
	served = caller_serve(d, c);
	if (served == SILENT)
		caller_keep(d, c);
	else if (served == FINISHED)
		caller_close(c);
	else
		c->source.fd = -1;
}

static void callers_accept(void *context, uint32_t events)
{
	struct span_desk *d = context;

	(void)events;
	for (int i = 0; i < CALLERS_AT_ONCE; i++) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		struct span_caller *place = caller_place(d, now_ns);
		int fd;

		if (!place || discards_are_many(&d->loop->discard)) {
			desk_set_full(d, true);
			return;
		}
		fd = accept4(d->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		caller_take(d, place, fd, now_ns);
	}
}

int span_desk_open(struct span_desk *d, int fd, struct loop *loop, struct job *job,
		   struct live *live)
{
	d->loop = loop;
	d->job = job;
	d->live = live;
	d->source = (struct loop_source){ fd, callers_accept, d };
	d->refuses_rights = socket_refuses_rights(fd);
	return fd < 0 ? 0 : loop_add(loop, &d->source, EPOLLIN);
}

/*
 * Passed descriptors in unaccepted connections would be closed here, which may block: accept and
 * discard them.
 */
static void listening_close(struct span_desk *d)
{
	int fd = -1;

	loop_remove(d->loop, &d->source);
	if (!d->refuses_rights)
		shutdown(d->source.fd, SHUT_RDWR); /* no more connections */
	while (!d->refuses_rights &&
	       (fd = accept4(d->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
		socket_discard(&d->loop->discard, fd);
	close(d->source.fd);
}

void span_desk_close(struct span_desk *d)
{
	d->is_full = false;
	if (d->source.fd >= 0)
		listening_close(d);
	d->source.fd = -1;
	for (size_t i = 0; i < SPAN_CALLERS; i++)
		if (d->callers[i].source.fd >= 0)
			caller_close(&d->callers[i]);
}
