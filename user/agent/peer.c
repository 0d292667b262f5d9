// SPDX-License-Identifier: BSD-2-Clause
#include "agent/peer.h"

#include "agent/agent.h"
#include "agent/porter.h"
#include "agent/agent_stream.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAX_GROUPS 1024

static bool peer_is_in(int fd, gid_t own, gid_t wanted)
{
	static gid_t groups[MAX_GROUPS]; /* static: one loop, one thread */
	socklen_t size = sizeof(groups);

	if (wanted == CONFIG_NO_GROUP)
		return false;
	if (own == wanted)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

int peer_find_user(struct peer *p)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(p->source.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return -errno;
	p->uid = peer.uid;
	p->gid = peer.gid;
	user_name_find(p->uid, p->user, sizeof(p->user));
	p->is_admin = !p->uid || peer_is_in(p->source.fd, p->gid, p->agent->config.admin_group.gid);
	return 0;
}

/* Returns NULL if the connection is served, else the reason, a constant string. */
static const char *peer_find_access(struct peer *p)
{
	struct agent *a = p->agent;

	if (peer_find_user(p))
		return "cannot get the credentials of the client";
	if (!p->is_admin && a->config.user_group.gid != CONFIG_NO_GROUP &&
	    !peer_is_in(p->source.fd, p->gid, a->config.user_group.gid))
		return "only members of a group may connect; see user_group in the configuration "
		       "of the agent";
	if (!p->is_admin && !agent_take_request_credit(a, p->uid))
		return "too many requests from this user; see requests_per_second in the "
		       "configuration of the agent";
	if (a->nr_peers > a->config.clients && !places_free_one(a))
		return "too many clients; see clients in the configuration of the agent";
	return NULL;
}

#define CLOCK_SLACK_NS (10 * NSEC_PER_SEC) /* greatest plausible age of a command's start */

/* Frees the description: the meta line is written, and nothing else needs its strings. */
static void description_free(struct assignment *a)
{
	a->run.command = NULL;
	a->run.meta = NULL;
	a->run.name = a->run.job = a->run.container = a->run.engine = NULL;
	a->run.nr_tags = 0;
	described_done(&a->described);
}

/* Fills in the run as others see it: with its user and name only. */
static void subject_describe(struct peer *p)
{
	const struct run *run = &p->tenant->assignment.run;
	struct subject *s = &p->subject;

	snprintf(s->user, sizeof(s->user), "%s", p->user);
	snprintf(s->name, sizeof(s->name), "%s", run->name ? run->name : "");
	s->stream = &p->agent->stream;
	s->run = *run;
	s->run.name = s->name;
	s->run.job = NULL;
	s->run.nr_tags = 0;
	s->run.command = NULL;
	s->run.cwd[0] = '\0';
	s->run.meta = NULL;
	s->run.targets = NULL;
	s->run.nr_targets = 0;
	s->run.container = s->run.engine = NULL;
	s->label = (struct job_label){
		.id = "run",
		.kind = "run",
		.name = s->name,
		.uid = p->uid,
		.user = s->user,
		.is_nested = true, /* its processes are in the cgroup of a job, or in "other" */
	};
	s->run.of_node = &s->label;
}

void peer_began(struct peer *p)
{
	struct tenant *t = p->tenant;

	p->state = PEER_RUNS;
	p->until_ns = 0;
	p->may_be_empty = true;
	p->agent->handover.is_stale = true;
	subject_describe(p);
	t->job.view.observer = &stream_observer;
	t->job.view.observer_context = &p->subject;
	stream_put_meta(&p->agent->stream, &p->subject, NULL);
	if (tenant_open_desk(t))
		log_info("no spans for a run: out of memory");
}

/* @when_ns is the start by the client's CLOCK_MONOTONIC; an implausible one is replaced by now. */
static void peer_start(struct peer *p, uint64_t when_ns)
{
	struct tenant *t = p->tenant;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	/* the clock of a client may differ, as in a time namespace */
	if (when_ns > now_ns || when_ns + CLOCK_SLACK_NS < now_ns)
		when_ns = now_ns;
	if (!t->assignment.is_described)
		tenant_set_incomplete(t, "the description of the run was lost");
	memcpy(t->assignment.run.user, p->user, sizeof(p->user));
	t->assignment.run.uid = p->uid;
	t->progress = t->assignment.spec.command ? RUNNING : COMMAND_ENDED;
	job_start(&t->job, when_ns);
	p->due_ns = t->job.view.start_ns + t->job.view.run->interval_ns;
	if (t->assignment.spec.duration_ns)
		p->end_ns = t->job.view.start_ns + t->assignment.spec.duration_ns;
	peer_began(p);
	description_free(&t->assignment);
}

#define PACKETS_AT_ONCE 256              /* then other clients get their turn */
#define DESCRIPTION_MOST (2UL << 20)     /* of a client, whose command is kept until it starts */
#define PATIENCE_NS (10 * NSEC_PER_SEC)  /* for a client to continue */
#define CLOSING_NS (100 * NSEC_PER_MSEC) /* between checks whether a run can be closed */
#define PATIENCE_AT_END_NS (12 * NSEC_PER_SEC) /* for a client to read its last lines */

static void peer_refuse(struct peer *p, int err, const char *why)
{
	p->agent->counts.refused++;
	log_info("refused user %u: %s", p->uid, why);
	control_send(p->source.fd, CONTROL_FAILED, err, 0, why);
	p->state = PEER_GONE;
}

/* Drops a client that sent nonsense or is too slow: its run ends, or it is removed soon. */
static void peer_drop(struct peer *p, const char *why)
{
	p->agent->counts.dropped++;
	log_info("dropped a client of user %u: %s", p->uid, why);
	if (p->tenant && p->state == PEER_RUNS) {
		peer_stop(p, why);
		return;
	}
	if (p->state <= PEER_WAITS)
		control_send(p->source.fd, CONTROL_FAILED, -EPROTO, 0, why);
	p->state = PEER_GONE;
}

static void peer_handle_message(struct peer *p, const struct control *c)
{
	char why[512] = "";
	int err;

	if (c->type == CONTROL_PING && p->state < PEER_GONE) {
		control_send(p->source.fd, CONTROL_READY, REQUEST_VERSION, 0, NULL);
	} else if (c->type == CONTROL_REQUEST && p->state == PEER_NEW) {
		err = peer_execute_request(p, why, sizeof(why));
		if (err)
			peer_refuse(p, err, why);
		else if (control_send(p->source.fd, CONTROL_READY, REQUEST_VERSION, 0, NULL))
			p->state = PEER_GONE;
	} else if (c->type == CONTROL_DESCRIPTION && p->state == PEER_WAITS) {
		const size_t bytes = p->message.length;

		if (assignment_take_description(&p->tenant->assignment, &p->message, why,
						sizeof(why)))
			log_info("rejected a run description from user %u: %s", p->uid, why);
		else
			p->described_bytes = bytes;
	} else if (c->type == CONTROL_START && p->state == PEER_WAITS) {
		peer_start(p, c->when_ns);
	} else if ((c->type == CONTROL_ENDED || c->type == CONTROL_STOP ||
		    c->type == CONTROL_KILL) &&
		   p->state == PEER_RUNS) {
		tenant_handle_control(p->tenant, c);
		p->may_be_empty = true;
	} else if (c->type == CONTROL_STOP && p->state == PEER_LISTENS) {
		peer_stop(p, "");
	} else if (p->state == PEER_LISTENS &&
		   (c->type == CONTROL_DESCRIPTION || c->type == CONTROL_START)) {
		message_done(&p->message); /* of a job that already runs */
	} else if (p->state <= PEER_RUNS || p->state == PEER_LISTENS) {
		peer_drop(p, "invalid request");
	}
}

static void peer_handle_disconnect(struct peer *p)
{
	if (p->state == PEER_RUNS) {
		tenant_handle_control(p->tenant, NULL);
		loop_remove(&p->agent->loop, &p->source);
	} else if (p->state == PEER_LISTENS && p->follows) {
		peer_stop(p, "");
		loop_remove(&p->agent->loop, &p->source);
	} else if (p->state >= PEER_LEAVES && p->state <= PEER_FINISHES) {
		loop_remove(&p->agent->loop, &p->source); /* its recorder may still read */
	} else {
		p->state = PEER_GONE;
	}
}

/* Returns the size limit of the next message; a request always fits. */
static size_t peer_message_limit(const struct peer *p)
{
	size_t spare = p->state == PEER_NEW ? 0 : agent_spare_bytes(p->agent, p);

	if (spare < REQUEST_BYTES)
		return REQUEST_BYTES;
	return spare < DESCRIPTION_MOST ? spare : DESCRIPTION_MOST;
}

static bool peer_may_hold(void *context, size_t bytes)
{
	const struct peer *p = context;

	return bytes <= agent_spare_bytes(p->agent, p);
}

/* Handles a result of message_receive() that is no message. */
static void peer_handle_no_message(struct peer *p, int got)
{
	/* only the first packet of a request may carry descriptors */
	if (got == -EPERM && p->state == PEER_NEW && !p->message.type)
		door_order_packet(p);
	else if (got < 0)
		peer_drop(p, "invalid message");
	else
		peer_handle_disconnect(p);
}

static void peer_ready(void *context, uint32_t events)
{
	struct peer *p = context;
	struct control c;
	int got = 0;

	(void)events;
	for (int i = 0; i < PACKETS_AT_ONCE && p->state != PEER_GONE; i++) {
		if (!p->message.type)
			p->message.limit = peer_message_limit(p);
		got = message_receive(&p->message, p->source.fd, &c);
		if (got != 1)
			break;
		peer_handle_message(p, &c);
	}
	if (p->state != PEER_GONE && got != 1 && got != -EAGAIN)
		peer_handle_no_message(p, got);
}

/* Handles the packet @c from the porter, or @err if there is none. */
static void peer_handle_packet(struct peer *p, int err, const struct control *c)
{
	int got = err ? err : message_take_packet(&p->message, c);

	if (p->state == PEER_GONE || (err == -EAGAIN && p->state == PEER_NEW))
		return;
	if (err == -ENOMEM)
		peer_drop(p, "out of memory");
	else if (err == -EDQUOT)
		peer_drop(p, "a descriptor that this user sent earlier cannot be closed");
	else if (got < 0)
		peer_drop(p, "invalid message");
	else if (got == 1)
		peer_handle_message(p, c);
}

struct peer *peer_new(struct agent *a, int fd)
{
	struct peer *p = memory_calloc(1, sizeof(*p));

	if (!p) {
		socket_discard(&a->loop.discard, fd);
		a->counts.dropped++;
		return NULL;
	}
	p->agent = a;
	p->answered = peer_handle_packet;
	p->source = (struct loop_source){ fd, peer_ready, p };
	p->listening.fd = p->listener.feed.fd = -1;
	p->budget = (struct feed_budget){ peer_may_hold, p };
	p->message.is_untrusted = a->loop.discard.hand_over;
	p->end_ns = UINT64_MAX;
	p->until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	p->next = a->peers;
	a->peers = p;
	a->nr_peers++;
	return p;
}

void peer_accept(struct agent *a, int fd)
{
	struct peer *p = peer_new(a, fd);
	const char *why;

	if (!p)
		return;
	why = peer_find_access(p);
	if (why)
		peer_refuse(p, -EPERM, why);
	else if (loop_add(&a->loop, &p->source, EPOLLIN))
		p->state = PEER_GONE;
}

void peer_publish(struct peer *p)
{
	struct tenant *t = p->tenant;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), interval_ns = t->job.view.run->interval_ns;
	uint64_t passed = now_ns >= p->due_ns ? (now_ns - p->due_ns) / interval_ns + 1 : 1;

	tenant_note_ticks(t, passed);
	p->due_ns += passed * interval_ns;
	p->may_be_empty = true;
	job_publish(&t->job);
	feeds_flush(&t->job.view.feeds);
}

/* From now on only queued lines are sent. */
static void peer_finish(struct peer *p)
{
	p->state = PEER_FINISHES;
	p->until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_AT_END_NS;
}

void peer_stop(struct peer *p, const char *reason)
{
	if (p->state == PEER_RUNS) {
		tenant_set_incomplete(p->tenant, reason);
		p->tenant->progress = OVER;
	} else if (p->state == PEER_LISTENS) {
		if (p->follows && !p->listener.feed.is_ended) {
			tally_view_report_so_far(&p->follows->view, &p->listener.feed);
			feeds_remove(&p->follows->view.feeds, &p->listener.feed);
		}
		p->follows = NULL;
		peer_finish(p);
	} else if (p->state == PEER_NEW || p->state == PEER_WAITS) {
		peer_refuse(p, -ESHUTDOWN, "the agent is being stopped");
	}
}

void peer_prepare(struct peer *p)
{
	struct feed *f = &p->listener.feed;
	bool waits;

	if (p->tenant)
		tenant_watch_feed(p->tenant);
	if (p->listening.fd < 0)
		return;
	waits = feed_is_waiting(f);
	if (waits != p->listener_waits)
		loop_change(&p->agent->loop, &p->listening, waits ? EPOLLOUT : 0);
	p->listener_waits = waits;
}

static void run_attend(struct peer *p)
{
	struct tenant *t = p->tenant;

	tenant_attend(t);
	if (t->progress == COMMAND_ENDED && p->may_be_empty && !job_totals(&t->job).processes)
		t->progress = OVER;
	p->may_be_empty = false;
	if (clock_ns(CLOCK_MONOTONIC) >= p->end_ns)
		t->progress = OVER;
	if (t->progress != OVER || !tenant_may_close_job(t))
		return;
	tenant_close_job(t);
	p->state = PEER_LEAVES;
	p->until_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_AT_END_NS;
}

static void leaving_attend(struct peer *p)
{
	struct tenant *t = p->tenant;

	tenant_attend(t);
	feed_flush(&t->feed);
	if (!job_close_step(&t->job))
		return;
	job_leave_books(&t->job);
	peer_finish(p);
}

static bool peer_has_sent_all(const struct peer *p)
{
	return !feed_is_waiting(p->tenant ? &p->tenant->feed : &p->listener.feed);
}

void peer_attend(struct peer *p)
{
	const struct feed *f = p->tenant ? &p->tenant->feed : &p->listener.feed;

	if (p->tenant && p->state == PEER_RUNS)
		run_attend(p);
	if (p->tenant && p->state == PEER_LEAVES)
		leaving_attend(p);
	if (p->state == PEER_LISTENS && clock_ns(CLOCK_MONOTONIC) >= p->end_ns)
		peer_stop(p, "");
	if (p->state == PEER_LISTENS && f->is_ended)
		peer_finish(p);
	if (p->state == PEER_LISTENS && f->is_broken)
		p->state = PEER_GONE;
	if (p->state == PEER_FINISHES && peer_has_sent_all(p))
		p->state = PEER_GONE;
	if (p->until_ns && p->state != PEER_GONE && clock_ns(CLOCK_MONOTONIC) >= p->until_ns)
		peer_drop(p, "timeout");
}

int peer_wait(struct peer *p, int wait_ms)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t until_ns = p->until_ns ? p->until_ns : UINT64_MAX;

	if (p->tenant)
		wait_ms = tenant_wait(p->tenant, wait_ms);
	if (p->tenant &&
	    (p->state == PEER_GONE || (p->state == PEER_RUNS && p->tenant->progress == OVER)))
		until_ns = now_ns + CLOSING_NS;
	else if ((p->state == PEER_RUNS || p->state == PEER_LISTENS) && p->end_ns < until_ns)
		until_ns = p->end_ns;
	if (until_ns == UINT64_MAX)
		return wait_ms;
	until_ns = until_ns > now_ns ? (until_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	return wait_ms < 0 || until_ns < (uint64_t)wait_ms ? (int)until_ns : wait_ms;
}

static void tenant_remove(struct peer *p)
{
	struct tenant *t = p->tenant;
	int fd = t->assignment.spec.stream_fd;

	if (t->job.account.tree) /* it was not closed regularly */
		job_abandon(&t->job);
	tenant_done(t);
	if (fd >= 0)
		socket_discard(&p->agent->loop.discard, fd);
	if (tenant_is_abandoned(t))
		agent_count_blocked_thread(p->agent, p->uid);
	else
		free(t);
}

bool peer_may_be_removed(struct peer *p)
{
	if (!p->tenant || tenant_may_close_job(p->tenant))
		return true;
	loop_remove(&p->agent->loop, &p->source);
	return false;
}

void peer_remove(struct peer *p)
{
	struct agent *a = p->agent;
	struct peer **at = &a->peers;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	a->nr_peers--;
	if (p->follows && !p->listener.feed.is_ended) /* else that job is gone */
		feeds_remove(&p->follows->view.feeds, &p->listener.feed);
	stream_remove(&a->stream, &p->listener);
	if (p->tenant)
		tenant_remove(p);
	feed_done(&p->listener.feed);
	if (p->listening.fd >= 0) {
		/* the client may share the open file, so epoll would keep it */
		loop_remove(&a->loop, &p->listening);
		socket_discard(&a->loop.discard, p->listening.fd);
	}
	loop_remove(&a->loop, &p->source); /* as above, or it is still open */
	socket_discard(&a->loop.discard, p->source.fd);
	message_discard(&p->message, &a->loop.discard);
	a->handover.is_stale |= p->request != NULL;
	free(p->request);
	free(p);
}

void descriptors_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static size_t connections_of(const struct agent *a, uid_t uid)
{
	size_t n = 0;

	for (const struct peer *p = a->peers; p; p = p->next)
		n += p->uid == uid && p->state != PEER_GONE;
	return n;
}

bool places_free_one(struct agent *a)
{
	struct peer *found = NULL;
	size_t most = 0, n;

	/* the first in the list is the newest client, which is to get the place */
	for (struct peer *p = a->peers ? a->peers->next : NULL; p; p = p->next) {
		if (p->state != PEER_NEW)
			continue;
		n = found && found->uid == p->uid ? most : connections_of(a, p->uid);
		if (n < most)
			continue;
		most = n;
		found = p;
	}
	if (!found)
		return false;
	peer_drop(found, "idle, and other clients are waiting");
	return true;
}
