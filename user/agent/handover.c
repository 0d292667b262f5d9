// SPDX-License-Identifier: BSD-2-Clause
#include "agent/handover.h"

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/notify.h"
#include "measure/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME NOTIFY_KEPT "handover-"
#define RENEW_NS (30 * NSEC_PER_SEC)
/* renewing takes at most this part of the time, however many runs begin */
#define RENEW_SHARE 200
#define MANAGER_MS 5000 /* for the manager to handle all messages */

/* The descriptors that are left, in the order in which the state names them. */
struct left {
	int *fds; /* owned; the descriptors are not */
	size_t nr, room;
	bool failed;
};

static void left_add(struct left *l, int fd)
{
	if (l->nr == l->room) {
		size_t room = l->room ? l->room * 2 : 512;
		int *fds = memory_reallocarray(l->fds, room, sizeof(*fds));

		if (!fds) {
			l->failed = true;
			return;
		}
		l->fds = fds;
		l->room = room;
	}
	l->fds[l->nr++] = fd;
}

/* Writes the place of @fd in the list as the member @key, unless it is -1. */
static void fd_put(struct left *l, struct jsonw *j, const char *key, int fd)
{
	if (fd < 0)
		return;
	jsonw_uint(j, key, l->nr);
	left_add(l, fd);
}

static void pids_put(const struct job_spec *spec, struct jsonw *j)
{
	jsonw_int(j, "command", spec->command);
	jsonw_array(j, "targets");
	for (size_t i = 0; i < spec->nr_targets; i++)
		jsonw_int(j, NULL, spec->targets[i]);
	jsonw_array_end(j);
}

static void left_queue_put(const struct feed *f, bool is_final, struct jsonw *j)
{
	if (is_final)
		jsonw_hex(j, "queue", f->queue + f->start, f->used - f->start);
}

static void run_put(struct peer *p, bool is_final, struct left *l, struct jsonw *j)
{
	const struct tenant *t = p->tenant;
	const struct intake *intake = &t->assignment.intake;

	jsonw_object(j, NULL);
	jsonw_bytes(j, "request", p->request, p->request_bytes);
	jsonw_uint(j, "request_fds", p->request_fds);
	jsonw_string(j, "name", p->subject.name);
	jsonw_uint(j, "due_ns", p->due_ns);
	if (p->end_ns != UINT64_MAX)
		jsonw_uint(j, "end_ns", p->end_ns);
	jsonw_uint(j, "progress", t->progress);
	pids_put(&t->assignment.spec, j);
	fd_put(l, j, "connection", p->source.fd);
	fd_put(l, j, "stream", t->assignment.spec.stream_fd);
	if (t->assignment.spec.intake) {
		fd_put(l, j, "marks", intake->marks_fd);
		fd_put(l, j, "udp0", intake->udp_fds[0]);
		fd_put(l, j, "udp1", intake->udp_fds[1]);
	}
	fd_put(l, j, "spans", t->assignment.spec.span_fd);
	left_queue_put(&t->feed, is_final, j);
	job_keep(&p->tenant->job, j, "job");
	jsonw_object_end(j);
}

static void node_job_put(void *context, struct node_job *job)
{
	struct jsonw *j = context;

	jsonw_object(j, job->rule.id);
	jsonw_bool(j, "adopted", job->subject.label.is_adopted);
	tally_view_keep(&job->view, j, "view");
	jsonw_object_end(j);
}

static void cgroups_put(const struct cgroups *c, struct jsonw *j)
{
	jsonw_array(j, "cgroups");
	for (size_t i = 0; i < c->nr; i++) {
		if (!c->all[i]->path)
			continue;
		jsonw_object(j, NULL);
		jsonw_uint(j, "id", c->all[i]->id);
		jsonw_string(j, "path", c->all[i]->path);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void listener_put(struct peer *p, bool is_final, struct left *l, struct jsonw *j)
{
	jsonw_object(j, NULL);
	jsonw_bytes(j, "request", p->request, p->request_bytes);
	jsonw_uint(j, "request_fds", p->request_fds);
	jsonw_string(j, "follows", p->follows->rule.id);
	if (p->end_ns != UINT64_MAX)
		jsonw_uint(j, "end_ns", p->end_ns);
	fd_put(l, j, "connection", p->source.fd);
	fd_put(l, j, "stream", p->listening.fd);
	left_queue_put(&p->listener.feed, is_final, j);
	jsonw_object_end(j);
}

/* Returns whether the client has sent nothing yet that has been received. */
static bool peer_is_fresh(const struct peer *p)
{
	return p->state == PEER_NEW && !p->message.type && !p->order_id && !p->has_unsent_order;
}

bool handover_leaves(const struct peer *p)
{
	if (peer_is_fresh(p))
		return true;
	if (!p->request)
		return false;
	return p->state == PEER_RUNS ? p->tenant->progress != OVER
				     : p->state == PEER_LISTENS && p->follows;
}

static void state_write(struct agent *a, bool is_final, struct left *l, struct jsonw *j)
{
	jsonw_object(j, NULL);
	jsonw_uint(j, "version", HANDOVER_VERSION);
	jsonw_bool(j, "final", is_final);
	jsonw_uint(j, "written_ns", clock_ns(CLOCK_MONOTONIC));
	jsonw_uint(j, "trees", a->books.nr_trees);
	jsonw_uint(j, "books_fds", l->nr);
	kept_write(&a->books.tracker, j);
	gpu_desk_keep_pasts(&a->books.gpus, j);
	if (is_final) /* else they are read from /proc */
		images_keep(&a->books.images, a->books.tracker.began_ns, j);
	cgroups_put(&a->node.cgroups, j);
	jsonw_object(j, "jobs");
	node_each(&a->node, node_job_put, j);
	jsonw_object_end(j);
	jsonw_array(j, "runs");
	for (struct peer *p = a->peers; p; p = p->next)
		if (handover_leaves(p) && p->state == PEER_RUNS)
			run_put(p, is_final, l, j);
	jsonw_array_end(j);
	jsonw_array(j, "listeners");
	for (struct peer *p = a->peers; p; p = p->next)
		if (handover_leaves(p) && p->state == PEER_LISTENS)
			listener_put(p, is_final, l, j);
	jsonw_array_end(j);
	jsonw_array(j, "connections");
	for (struct peer *p = a->peers; p && is_final; p = p->next)
		if (peer_is_fresh(p))
			fd_put(l, j, NULL, p->source.fd);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

static int fds_send(int to, const int *fds, size_t nr)
{
	char byte = 0;
	struct iovec text = { &byte, 1 };
	union passed_fds room = { 0 };
	struct msghdr m = { .msg_iov = &text, .msg_iovlen = 1 };

	fds_put(&m, &room, fds, nr);
	return sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int state_file_make(const struct jsonw *j)
{
	int fd = memfd_create("bpfmon-handover", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < j->used) {
		ssize_t n = write(fd, j->text + done, j->used - done);

		if (n <= 0) {
			close(fd);
			return n ? -errno : -EIO;
		}
		done += (size_t)n;
	}
	return fd < 0 ? -errno : fd;
}

/* The first message has the state, the others the descriptors that it names. */
static int messages_send(int to, const struct jsonw *j, const struct left *l)
{
	__cleanup(closep) int text = state_file_make(j);
	int err = text < 0 ? text : fds_send(to, &text, 1);

	for (size_t i = 0; !err && i < l->nr; i += FDS_AT_ONCE)
		err = fds_send(to, l->fds + i, l->nr - i < FDS_AT_ONCE ? l->nr - i : FDS_AT_ONCE);
	return err;
}

static int manager_give(struct handover *h, const struct jsonw *j, const struct left *l)
{
	char name[64];
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	snprintf(name, sizeof(name), NAME "%llu", (unsigned long long)h->serial + 1);
	err = messages_send(ends[0], j, l);
	if (!err)
		err = notify_keep(name, ends[1]);
	close(ends[0]);
	close(ends[1]);
	if (err)
		return err;
	snprintf(name, sizeof(name), NAME "%llu", (unsigned long long)h->serial++);
	notify_forget(name);
	return 0;
}

static int handover_give(struct agent *a, bool is_final)
{
	struct jsonw j = { 0 };
	struct left l = { 0 };
	int books[KEPT_BOOKS_FDS], err = 0;
	size_t nr = kept_fds(&a->books.tracker, books);

	for (size_t i = 0; i < nr; i++)
		left_add(&l, books[i]);
	if (!nr)
		err = -E2BIG;
	state_write(a, is_final, &l, &j);
	if (!err && (j.failed || l.failed))
		err = -ENOMEM;
	if (!err)
		err = manager_give(&a->handover, &j, &l);
	jsonw_done(&j);
	free(l.fds);
	return err;
}

void handover_renew(struct agent *a)
{
	struct handover *h = &a->handover;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err;

	if (!h->is_on || now_ns < (h->is_stale ? h->earliest_ns : h->due_ns))
		return;
	h->is_stale = false;
	h->due_ns = now_ns + RENEW_NS;
	err = handover_give(a, false);
	h->earliest_ns = now_ns + RENEW_SHARE * (clock_ns(CLOCK_MONOTONIC) - now_ns);
	if (!err)
		return;
	h->is_on = false;
	log_warn("a restart of the agent ends the runs of its clients: the service manager takes "
		 "no descriptors: %s",
		 strerror(-err));
}

int handover_finish(struct agent *a)
{
	int err = a->handover.is_on ? handover_give(a, true) : -ENOTSUP;

	if (!err)
		err = notify_wait(MANAGER_MS);
	a->handover.is_done = !err;
	return err;
}
