// SPDX-License-Identifier: BSD-2-Clause
/* Requests of clients: checked against the client's rights and limits, then begun. */
#include "agent/peer.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/memory.h"
#include "base/user.h"
#include "base/text.h"
#include "measure/live.h"
#include "waits/sleepers.h"
#include "waits/waits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ADMIN_QUEUE_BYTES (16UL << 20) /* a few samples of all processes of a large node */
#define SPANS_QUEUED 1024              /* pending connections; the kernel may allow fewer */

static bool socket_is(int fd, int domain, int type)
{
	int is_domain, is_type;
	socklen_t size = sizeof(int);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &is_domain, &size) &&
	       !getsockopt(fd, SOL_SOCKET, SO_TYPE, &is_type, &size) && is_domain == domain &&
	       is_type == type;
}

/* Sockets that the agent reads or writes must be of types that cannot block it. */
static int sockets_check(const struct request *r, char *why, size_t size)
{
	bool are_right = socket_is(r->stream_fd, AF_UNIX, SOCK_STREAM) &&
			 (r->marks_fd < 0 || socket_is(r->marks_fd, AF_UNIX, SOCK_DGRAM));

	for (size_t i = 0; i < REQUEST_UDP; i++)
		are_right &= r->udp_fds[i] < 0 || socket_is(r->udp_fds[i], AF_INET, SOCK_DGRAM) ||
			     socket_is(r->udp_fds[i], AF_INET6, SOCK_DGRAM);
	if (are_right && r->span_fd < 0)
		return 0;
	snprintf(why, size, "a socket in the request has the wrong type");
	return -ENOTSOCK;
}

/* Rejects what this agent offers to no client. */
static int request_check_offered(const struct agent_config *c, const struct request *r, char *why,
				 size_t size)
{
	if (!c->net && metric_set_has_source(&r->wanted, SOURCE_NET))
		snprintf(why, size,
			 "the agent does not count socket traffic; set net = yes in its "
			 "configuration and restart it, or use sudo");
	else if (!c->io_kinds && metric_set_has_source(&r->wanted, SOURCE_KINDS))
		snprintf(why, size,
			 "the agent does not split I/O by kind of file; set io_kinds = yes in its "
			 "configuration and restart it, or use sudo");
	else if (r->exact_peak)
		snprintf(why, size, "--exact-peak is not available through the agent; use sudo");
	else if (r->net_peers)
		snprintf(why, size, "--net-peers is not available through the agent; use sudo");
	else if (r->follow == FOLLOW_CGROUP || r->cgroup_fd >= 0)
		snprintf(why, size,
			 "attaching to a cgroup is not available through the agent; use --pid, "
			 "--job for a job of the node, or sudo");
	else
		return 0;
	return -EPERM;
}

/* The client's launcher sends the signals, to processes that the agent names by pid. */
static int limits_check_numbers(const struct request *r, char *why, size_t size)
{
	static const char about[] =
		"the agent cannot identify the processes that a limit would end: ";
	bool is_hard = false;

	for (unsigned i = 0; i < r->nr_limits; i++)
		is_hard |= !r->limits[i].is_soft;
	for (size_t i = 0; is_hard && i < r->nr_pids; i++) {
		char reason[128];
		int err = process_check_numbers(r->pid_fds[i], reason, sizeof(reason));

		if (!err)
			continue;
		snprintf(why, size, "%s%s; use --soft-limit, or a limit outside the container",
			 about, reason);
		return err;
	}
	return 0;
}

/* Only admins may request what costs the whole node. */
static int request_check_allowed(const struct peer *p, const struct request *r, char *why,
				 size_t size)
{
	const struct agent_config *c = &p->agent->config;
	int err = request_check_offered(c, r, why, size);

	if (!err)
		err = limits_check_numbers(r, why, size);
	if (!err && r->marks_fd >= 0 && !agent_may_push(p->agent, p->uid)) {
		snprintf(why, size,
			 "--marks is not available now: the agent still waits to close descriptors "
			 "that this user sent with earlier marks");
		err = -EDQUOT;
	}
	if (err || p->is_admin)
		return err;
	if (r->interval_ns < c->min_interval_ns)
		snprintf(why, size, "the shortest interval of the agent is %.3g s; see --interval",
			 (double)c->min_interval_ns / NSEC_PER_SEC);
	else if (r->pss_ppm && !c->pss)
		snprintf(why, size, "the configuration of the agent does not allow --pss");
	else
		return 0;
	return -EPERM;
}

static int limits_check(struct peer *p, char *why, size_t size)
{
	if (p->is_admin || agent_count_jobs(p->agent, p->uid) < p->agent->config.jobs_per_user)
		return 0;
	snprintf(why, size,
		 "too many concurrent runs of this user; see jobs_per_user in the configuration of "
		 "the agent");
	return -EDQUOT;
}

/*
 * Called before and after the processes are tracked: each must be the user's own, which an exec may
 * change.
 */
static int targets_check_owner(const struct peer *p, const struct request *r, char *why,
			       size_t size)
{
	int err = 0;

	for (size_t i = 0; !err && !p->is_admin && i < r->nr_pids; i++)
		err = process_check_owner(r->pid_fds[i], p->uid, p->gid, why, size);
	return err;
}

/*
 * Opens the socket to which the command connects. The agent creates it itself, as only its own
 * socket is sure never to block it.
 */
static int spans_listen(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
	int fd;

	if (!*name || strlen(name) >= sizeof(at.sun_path) - 1)
		return -1;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	socket_refuse_rights(fd);
	memcpy(at.sun_path + 1, name, strlen(name));
	if (!bind(fd, (struct sockaddr *)&at, bytes) && !listen(fd, SPANS_QUEUED))
		return fd;
	close(fd);
	return -1;
}

static void assignment_set_rights(struct peer *p, struct assignment *a, const struct request *r)
{
	a->spec.control_fd = p->source.fd;
	if (a->spec.span_fd < 0) /* else it was kept over a restart of the agent */
		a->spec.span_fd = spans_listen(r->spans);
	assignment_name_socket(a);
	a->spec.is_idle = processes_are_idle;
	a->spec.count_sleepers = sleepers_count;
	if (p->is_admin)
		return;
	a->spec.hides_others = true;
	a->spec.shown_to = p->uid;
}

void peer_prepare_run(struct peer *p, const struct request *r)
{
	struct tenant *t = p->tenant;

	run_describe_machine(&t->assignment.run);
	assignment_set_rights(p, &t->assignment, r);
	feed_init(&t->feed, t->assignment.spec.stream_fd);
	feed_limit(&t->feed, p->agent->config.queue_bytes);
	t->feed.budget = t->job.view.feeds.budget = &p->budget;
}

static int run_open(struct peer *p, struct request *r, char *why, size_t size)
{
	struct tenant *t = p->tenant;
	int err;

	peer_prepare_run(p, r);
	err = job_open(&t->job, &t->assignment.spec, &p->agent->books, why, size);
	if (!err) {
		feeds_add(&t->job.view.feeds, &t->feed);
		err = targets_check_owner(p, r, why, size);
	}
	if (!err)
		err = tenant_start_threads(t, why, size);
	return err ? err : tenant_open_sources(t);
}

static int run_begin(struct peer *p, struct request *r, char *why, size_t size)
{
	int err = limits_check(p, why, size);

	if (!err)
		err = targets_check_owner(p, r, why, size);
	if (err)
		return err;
	p->tenant = memory_calloc(1, sizeof(*p->tenant));
	if (!p->tenant)
		return -ENOMEM;
	tenant_init(p->tenant, &p->agent->loop);
	err = assignment_take(&p->tenant->assignment, r, why, size);
	if (!err)
		err = run_open(p, r, why, size);
	p->state = PEER_WAITS;
	return err;
}

static void listener_ready(void *context, uint32_t events)
{
	struct peer *p = context;

	if (events & (EPOLLERR | EPOLLHUP))
		p->listener.feed.is_broken = true;
	else
		feed_flush(&p->listener.feed);
}

static void own_line_send(struct peer *p)
{
	agent_report(p->agent, &p->listener);
	p->listener.feed.is_ended = true;
}

static void node_listen(struct peer *p, bool once)
{
	struct agent *a = p->agent;

	if (once) { /* for runs, their last sample is sent */
		books_drain(&a->books, false);
		node_publish(&a->node);
	}
	agent_greet(a, &p->listener, once);
	if (!once) {
		stream_add(&a->stream, &p->listener);
		return;
	}
	own_line_send(p);
}

void peer_listen_to_processes(struct peer *p, struct tally_view *v)
{
	struct feed *f = &p->listener.feed;

	f->wants_processes = f->is_live = true;
	f->shows_all = p->is_admin;
	if (p->is_admin && f->most < ADMIN_QUEUE_BYTES)
		feed_limit(f, ADMIN_QUEUE_BYTES);
	tally_view_put_latest(v, f);
}

static int job_listen(struct peer *p, const struct request *r, char *why, size_t size)
{
	struct node_job *j = node_find_named(&p->agent->node, r->job, &p->listener);
	char shown[REQUEST_JOB_BYTES];

	/* the answer must not reveal whether another user has such a job */
	if (j) {
		p->follows = j;
		if (r->duration_ns)
			p->end_ns = clock_ns(CLOCK_MONOTONIC) + r->duration_ns;
		stream_put_meta(&p->agent->stream, &j->subject, &p->listener);
		if (r->processes)
			peer_listen_to_processes(p, &j->view);
		feeds_add(&j->view.feeds, &p->listener.feed);
		return 0;
	}
	snprintf(shown, sizeof(shown), "%s", r->job);
	text_disarm(shown);
	snprintf(why, size, "no job '%.200s' of yours on this node; see 'bpfmon jobs'", shown);
	return -ENOENT;
}

int peer_open_listener(struct peer *p, struct request *r)
{
	p->listener.uid = p->uid;
	p->listener.sees_all = p->is_admin;
	p->listening = (struct loop_source){ r->stream_fd, listener_ready, p };
	r->stream_fd = -1;
	feed_init(&p->listener.feed, p->listening.fd);
	feed_limit(&p->listener.feed, p->agent->config.queue_bytes);
	p->listener.feed.budget = &p->budget;
	return loop_add(&p->agent->loop, &p->listening, 0);
}

static int listening_begin(struct peer *p, struct request *r, char *why, size_t size)
{
	int err = r->follow == FOLLOW_AGENT ? 0 : limits_check(p, why, size);

	if (err)
		return err;
	err = peer_open_listener(p, r);
	if (err)
		return err;
	if (r->follow == FOLLOW_NODE)
		node_listen(p, r->once);
	else if (r->follow == FOLLOW_AGENT)
		own_line_send(p);
	else
		err = job_listen(p, r, why, size);
	p->state = PEER_LISTENS;
	p->until_ns = 0;
	return err;
}

static int request_execute(struct peer *p, struct request *r, char *why, size_t size)
{
	int err = sockets_check(r, why, size);

	if (!err)
		err = request_check_allowed(p, r, why, size);
	if (err)
		return err;
	if (r->follow == FOLLOW_HISTORY)
		return archive_pass_query(p, r, why, size);
	if (r->follow >= FOLLOW_NODE)
		return listening_begin(p, r, why, size);
	return run_begin(p, r, why, size);
}

static void socket_close(struct peer *p, int *fd)
{
	if (*fd >= 0)
		socket_discard(&p->agent->loop.discard, *fd);
	*fd = -1;
}

void peer_close_sockets(struct peer *p, struct request *r)
{
	socket_close(p, &r->stream_fd);
	socket_close(p, &r->marks_fd);
	socket_close(p, &r->span_fd);
	for (size_t i = 0; i < REQUEST_UDP; i++)
		socket_close(p, &r->udp_fds[i]);
}

void peer_keep_request(struct peer *p, const char *text, size_t length, size_t nr_fds)
{
	if (!p->agent->handover.is_on)
		return;
	p->request = memory_strndup(text, length);
	p->request_bytes = p->request ? length : 0;
	p->request_fds = nr_fds;
}

int peer_execute_request(struct peer *p, char *why, size_t size)
{
	struct message *m = &p->message;
	struct request r;
	int err = request_read(&r, m->text, m->length, m->fds, m->nr_fds, why, size);

	if (!err && (r.follow <= FOLLOW_CGROUP || r.follow == FOLLOW_JOB))
		peer_keep_request(p, m->text, m->length, m->nr_fds);
	message_discard(m, &p->agent->loop.discard);
	if (err)
		return err;
	err = request_execute(p, &r, why, size);
	for (size_t i = 0; i < r.nr_pids; i++) /* of any type */
		socket_close(p, &r.pid_fds[i]);
	socket_close(p, &r.cgroup_fd);
	peer_close_sockets(p, &r);
	if (err && !*why)
		snprintf(why, size, "the agent cannot execute the request: %s", strerror(-err));
	return err;
}
