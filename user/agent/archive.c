// SPDX-License-Identifier: BSD-2-Clause
#include "agent/archive.h"

#include "agent/agent.h"
#include "base/message.h"
#include "base/log.h"
#include "run/request.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define QUEUE_BYTES (32UL << 20) /* buffered while the historian is blocked or restarted */
#define PATIENCE_AT_END_NS (5 * NSEC_PER_SEC)

static void archive_abandon(struct archive *r)
{
	if (r->listener.feed.is_broken)
		return;
	r->listener.feed.is_broken = true;
	snprintf(r->trouble, sizeof(r->trouble), "the history process has ended");
	log_warn("the history process has ended: jobs are not saved until the agent is restarted");
	loop_remove(&r->agent->loop, &r->stream);
	loop_remove(&r->agent->loop, &r->control);
}

static void stream_ready(void *context, uint32_t events)
{
	struct archive *r = context;

	if (events & (EPOLLERR | EPOLLHUP))
		archive_abandon(r);
	else
		feed_flush(&r->listener.feed);
}

static void control_take(struct archive *r, const struct control *c)
{
	if (c->type == CONTROL_KEPT) {
		r->kept = c->when_ns;
		r->lost = (uint32_t)c->value;
		snprintf(r->trouble, sizeof(r->trouble), "%.*s", (int)sizeof(r->trouble) - 1,
			 c->text);
	} else if (c->type == CONTROL_GREET) {
		agent_greet(r->agent, &r->listener, false);
	}
}

static void control_ready(void *context, uint32_t events)
{
	struct archive *r = context;
	struct control c;
	int got;

	(void)events;
	do {
		got = control_receive(r->control.fd, &c);
		if (got == 1)
			control_take(r, &c);
	} while (got == 1);
	if (got != -EAGAIN)
		archive_abandon(r);
}

int archive_open(struct agent *a, int stream_fd, int control_fd)
{
	struct archive *r = &a->archive;
	int err;

	r->agent = a;
	r->stream = (struct loop_source){ stream_fd, stream_ready, r };
	r->control = (struct loop_source){ control_fd, control_ready, r };
	if (stream_fd < 0)
		return 0;
	feed_init(&r->listener.feed, stream_fd);
	feed_limit(&r->listener.feed, QUEUE_BYTES);
	r->listener.sees_all = r->listener.only_changes = true;
	err = loop_add(&a->loop, &r->stream, 0);
	if (!err)
		err = loop_add(&a->loop, &r->control, EPOLLIN);
	if (!err)
		stream_add(&a->stream, &r->listener);
	return err;
}

void archive_prepare(struct archive *r)
{
	struct feed *f = &r->listener.feed;
	bool waits;

	if (r->stream.fd < 0 || f->is_broken)
		return;
	if (f->dropped > r->dropped && !feed_is_waiting(f)) { /* meta lines may be lost */
		r->dropped = f->dropped;
		agent_greet(r->agent, &r->listener, false);
	}
	feed_flush(f);
	waits = feed_is_waiting(f);
	if (f->is_broken) {
		f->is_broken = false;
		archive_abandon(r);
	} else if (waits != r->listener_waits) {
		loop_change(&r->agent->loop, &r->stream, waits ? EPOLLOUT : 0);
	}
	r->listener_waits = waits;
}

void archive_report(const struct archive *r, struct jsonw *j)
{
	if (r->stream.fd < 0)
		return;
	jsonw_object(j, "history");
	jsonw_uint(j, "runs", r->kept);
	jsonw_uint(j, "runs_lost", r->lost);
	jsonw_uint(j, "lines_dropped", r->listener.feed.dropped);
	if (*r->trouble)
		jsonw_string(j, "trouble", r->trouble);
	jsonw_object_end(j);
}

int archive_pass_query(struct peer *p, struct request *r, char *why, size_t size)
{
	const struct archive *archive = &p->agent->archive;
	char text[REQUEST_JOB_BYTES + 40];
	int n = snprintf(text, sizeof(text), "%u %u %s", p->uid, p->is_admin, r->job), err;

	if (archive->stream.fd < 0 || archive->listener.feed.is_broken) {
		snprintf(why, size,
			 archive->stream.fd < 0
				 ? "this agent has no history; see [history] in its configuration"
				 : "the history process of this agent has ended");
		return -ENOENT;
	}
	err = message_send(archive->control.fd, CONTROL_READER, text, (size_t)n, &r->stream_fd, 1,
			   0);
	if (err)
		snprintf(why, size, "the history process does not answer; try again later");
	if (!err) { /* closed without shutdown: the historian uses it now */
		descriptor_discard(&p->agent->loop.discard, r->stream_fd);
		r->stream_fd = -1;
	}
	p->state = PEER_FINISHES; /* without lines from the agent */
	return err;
}

void archive_close(struct archive *r)
{
	struct patience p = { .watched_fd = -1, .limit_ns = PATIENCE_AT_END_NS };

	if (r->stream.fd < 0)
		return;
	feed_flush_whole(&r->listener.feed, &p);
	stream_remove(&r->agent->stream, &r->listener);
	feed_done(&r->listener.feed);
}
