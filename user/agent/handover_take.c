// SPDX-License-Identifier: BSD-2-Clause
/* The other side of a handover: continues what the agent before has left. */
#include "agent/handover.h"

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/jansson_memory.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/notify.h"
#include "measure/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A client that the agent before has left. */
struct client_left {
	struct agent *agent;
	int connection;
	struct request request; /* with its sockets */
	pid_t pids[REQUEST_PROCESSES];
	size_t nr_pids;
	const json_t *state;
	const struct node_before *before;
};

struct taken {
	char name[64]; /* of what is newest */
	int fd;
};

static unsigned long long serial_of(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

/* After a kill there may be two: the older one was about to be removed. */
static void taken_choose(void *context, const char *name, int fd)
{
	struct taken *t = context;

	if (fd < 0)
		return;
	if (t->fd >= 0 && serial_of(name) < serial_of(t->name)) {
		close(fd);
		notify_forget(name);
		return;
	}
	if (t->fd >= 0) {
		close(t->fd);
		notify_forget(t->name);
	}
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->fd = fd;
}

/* Receives the descriptors of the next message. Returns their number, 0 at the end. */
static size_t fds_receive(int from, int fds[FDS_AT_ONCE])
{
	char byte;
	struct iovec text = { &byte, 1 };
	union passed_fds room;
	struct msghdr m = { .msg_iov = &text,
			    .msg_iovlen = 1,
			    .msg_control = room.room,
			    .msg_controllen = sizeof(room.room) };

	if (recvmsg(from, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return 0;
	return fds_read(&m, fds);
}

static int fds_take(struct handover *h, int from)
{
	int some[FDS_AT_ONCE];
	size_t nr;

	while ((nr = fds_receive(from, some)) > 0) {
		int *all = memory_reallocarray(h->fds, h->nr_fds + nr, sizeof(*all));

		if (!all) {
			while (nr)
				close(some[--nr]);
			return -ENOMEM;
		}
		h->fds = all;
		memcpy(h->fds + h->nr_fds, some, nr * sizeof(int));
		h->nr_fds += nr;
	}
	return 0;
}

static json_t *left_state_read(int fd)
{
	struct stat st;
	json_t *state = NULL;
	void *text;

	if (fstat(fd, &st) || st.st_size <= 0)
		return NULL;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return NULL;
	state = jansson_loadb(text, (size_t)st.st_size, 0, NULL);
	munmap(text, (size_t)st.st_size);
	if (json_integer_value(json_object_get(state, "version")) == HANDOVER_VERSION)
		return state;
	json_decref(state);
	return NULL;
}

static size_t left_number(const json_t *o, const char *key)
{
	return (size_t)json_integer_value(json_object_get(o, key));
}

void handover_take(struct handover *h)
{
	struct taken t = { .fd = -1 };
	int texts[FDS_AT_ONCE];

	notify_each_kept(taken_choose, &t);
	if (t.fd < 0)
		return;
	h->serial = serial_of(t.name);
	/* taken once: if this agent fails because of it, the next one starts without it */
	notify_forget(t.name);
	if (fds_receive(t.fd, texts) == 1) {
		h->state = left_state_read(texts[0]);
		close(texts[0]);
	}
	if (fds_take(h, t.fd) || !h->state || left_number(h->state, "books_fds") > h->nr_fds) {
		log_warn("cannot use what the agent before has left: its runs end");
		handover_release(h);
	}
	close(t.fd);
	h->kept = (struct kept){ json_object_get(h->state, "books"), h->fds,
				 left_number(h->state, "books_fds") };
}

void handover_release(struct handover *h)
{
	for (size_t i = 0; i < h->nr_fds; i++)
		if (h->fds[i] >= 0)
			close(h->fds[i]);
	free(h->fds);
	json_decref(h->state);
	h->fds = NULL;
	h->nr_fds = 0;
	h->state = NULL;
	h->kept = (struct kept){ 0 };
	h->node.jobs = h->node.cgroups = NULL; /* the count stays */
}

/* Takes the descriptor at @place out of the list. Returns -1 if there is none. */
static int fd_take(struct handover *h, const json_t *place)
{
	size_t at = (size_t)json_integer_value(place);
	int fd;

	if (!place || at >= h->nr_fds)
		return -1;
	fd = h->fds[at];
	h->fds[at] = -1;
	return fd;
}

/* Opens descriptors for those of the request that are not needed any more. */
static size_t placeholders_open(int *fds, size_t nr)
{
	size_t i = 0;

	while (i < nr && (fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		i++;
	return i;
}

/* Replaces a placeholder by the descriptor that was kept. */
static void fd_replace(int *fd, int kept)
{
	if (*fd >= 0)
		close(*fd);
	*fd = kept;
}

/* Reads the request of @run, with the sockets that were kept. */
static int request_resume(struct handover *h, const json_t *run, struct request *r)
{
	const char *text = json_string_value(json_object_get(run, "request"));
	size_t nr = left_number(run, "request_fds");
	int fds[REQUEST_FDS], err;
	char why[256];

	if (!text || nr > REQUEST_FDS)
		return -EBADMSG;
	nr = placeholders_open(fds, nr);
	err = request_read(r, text, strlen(text), fds, nr, why, sizeof(why));
	if (err) {
		while (nr)
			close(fds[--nr]);
		return err;
	}
	fd_replace(&r->stream_fd, fd_take(h, json_object_get(run, "stream")));
	fd_replace(&r->marks_fd, fd_take(h, json_object_get(run, "marks")));
	fd_replace(&r->udp_fds[0], fd_take(h, json_object_get(run, "udp0")));
	fd_replace(&r->udp_fds[1], fd_take(h, json_object_get(run, "udp1")));
	fd_replace(&r->span_fd, fd_take(h, json_object_get(run, "spans")));
	request_close_targets(r);
	return 0;
}

static size_t pids_resume(const json_t *run, pid_t pids[REQUEST_PROCESSES])
{
	const json_t *targets = json_object_get(run, "targets");
	size_t nr = 0;

	while (nr < json_array_size(targets) && nr < REQUEST_PROCESSES) {
		pids[nr] = (pid_t)json_integer_value(json_array_get(targets, nr));
		nr++;
	}
	return nr;
}

/* Queues what the agent before could not send. */
static void queue_resume(struct feed *f, const json_t *state)
{
	const char *text = json_string_value(json_object_get(state, "queue"));
	char *bytes = text ? memory_malloc(strlen(text) / 2 + 1) : NULL;

	if (bytes)
		feed_put(f, bytes, hex_decode(bytes, text));
	else if (!text) /* it was killed, maybe within a line */
		feed_put(f, "\n", 1);
	free(bytes);
}

static int run_resume(struct peer *p, struct client_left *left, char *why, size_t size)
{
	const json_t *state = left->state;
	struct tenant *t = p->tenant;
	int err;

	err = assignment_take_again(&t->assignment, &left->request, left->pids, left->nr_pids, why,
				    size);
	if (err)
		return err;
	peer_prepare_run(p, &left->request);
	feeds_add(&t->job.view.feeds, &t->feed);
	queue_resume(&t->feed, state);
	err = job_resume(&t->job, &t->assignment.spec, &p->agent->books,
			 json_object_get(state, "job"), left->before->same_books);
	if (left->before->gap)
		summary_set_gap(&t->job.view.tally.summary, left->before->gap);
	if (!err)
		err = tenant_start_threads(t, why, size);
	return err ? err : tenant_open_sources(t);
}

/* For the agent after this one. */
static void request_keep_again(struct peer *p, const json_t *state)
{
	const json_t *request = json_object_get(state, "request");

	peer_keep_request(p, json_string_value(request), json_string_length(request),
			  left_number(state, "request_fds"));
}

/* What the description had is in the meta line, which was written before. */
static void run_go_on(struct peer *p, const json_t *state)
{
	struct run *run = &p->tenant->assignment.run;
	const json_t *end = json_object_get(state, "end_ns");

	request_keep_again(p, state);
	memcpy(run->user, p->user, sizeof(p->user));
	run->uid = p->uid;
	run->name = json_string_value(json_object_get(state, "name"));
	p->due_ns = left_number(state, "due_ns");
	if (end)
		p->end_ns = (uint64_t)json_integer_value(end);
	p->tenant->progress = json_integer_value(json_object_get(state, "progress")) == RUNNING
				      ? RUNNING
				      : COMMAND_ENDED;
	peer_began(p);
	run->name = NULL; /* of @state */
}

static int client_resume_run(struct client_left *left)
{
	struct peer *p = peer_new(left->agent, left->connection);
	char why[256] = "";
	int err = p ? peer_find_user(p) : -ENOMEM;

	if (!p)
		return err;
	p->tenant = err ? NULL : memory_calloc(1, sizeof(*p->tenant));
	if (!err && !p->tenant)
		err = -ENOMEM;
	if (p->tenant) {
		tenant_init(p->tenant, &p->agent->loop);
		err = run_resume(p, left, why, sizeof(why));
	}
	peer_close_sockets(p, &left->request);
	if (!err)
		err = loop_add(&p->agent->loop, &p->source, EPOLLIN);
	if (err) {
		p->state = PEER_GONE;
		return err;
	}
	run_go_on(p, left->state);
	return 0;
}

static int listening_resume(struct peer *p, struct request *r, const json_t *state)
{
	const char *job = json_string_value(json_object_get(state, "follows"));
	const json_t *end = json_object_get(state, "end_ns");
	int err = peer_open_listener(p, r);

	if (!err)
		p->follows = node_find_named(&p->agent->node, job ? job : "", &p->listener);
	if (err || !p->follows)
		return err ? err : -ENOENT;
	queue_resume(&p->listener.feed, state);
	if (end)
		p->end_ns = (uint64_t)json_integer_value(end);
	if (r->processes)
		peer_listen_to_processes(p, &p->follows->view);
	feeds_add(&p->follows->view.feeds, &p->listener.feed);
	p->state = PEER_LISTENS;
	p->until_ns = 0;
	return 0;
}

static void client_resume_listening(struct client_left *left)
{
	struct peer *p = peer_new(left->agent, left->connection);

	if (!p)
		return;
	if (peer_find_user(p) || listening_resume(p, &left->request, left->state) ||
	    loop_add(&p->agent->loop, &p->source, EPOLLIN))
		p->state = PEER_GONE;
	else
		request_keep_again(p, left->state);
	peer_close_sockets(p, &left->request);
}

static int left_take(struct agent *a, const json_t *state, struct client_left *left)
{
	int err;

	*left = (struct client_left){ .agent = a, .state = state, .before = &a->handover.node };
	err = request_resume(&a->handover, state, &left->request);
	if (!err)
		left->connection = fd_take(&a->handover, json_object_get(state, "connection"));
	return !err && left->connection < 0 ? -EBADMSG : err;
}

static int run_resume_one(struct agent *a, const json_t *run)
{
	const json_t *command = json_object_get(run, "command");
	struct client_left left;
	int err = left_take(a, run, &left);

	if (err)
		return err;
	left.nr_pids = pids_resume(run, left.pids);
	if (json_integer_value(command)) {
		left.pids[0] = (pid_t)json_integer_value(command);
		left.nr_pids = 1;
	}
	return client_resume_run(&left);
}

void handover_resume_clients(struct agent *a)
{
	const json_t *all = json_object_get(a->handover.state, "listeners");
	const json_t *connections = json_object_get(a->handover.state, "connections");
	struct client_left left;
	int fd;

	for (size_t i = json_array_size(all); i-- > 0;)
		if (!left_take(a, json_array_get(all, i), &left))
			client_resume_listening(&left);
	for (size_t i = json_array_size(connections); i-- > 0;) {
		fd = fd_take(&a->handover, json_array_get(connections, i));
		if (fd >= 0)
			peer_accept(a, fd);
	}
}

static void books_resume(struct agent *a, const json_t *state)
{
	a->books.nr_trees = left_number(state, "trees");
	gpu_desk_resume_pasts(&a->books.gpus, state);
	if (images_resume(&a->books.images, json_object_get(state, "images"),
			  clock_ns(CLOCK_MONOTONIC)))
		a->books.unnamed++;
}

/* The state has the newest run first, as the list of clients does. */
void handover_resume_runs(struct agent *a)
{
	struct handover *h = &a->handover;
	const json_t *runs = json_object_get(h->state, "runs");
	size_t nr = json_array_size(runs), failed = 0;

	if (h->node.same_books)
		books_resume(a, h->state);
	while (nr--) {
		int err = run_resume_one(a, json_array_get(runs, nr));

		h->runs += !err;
		failed += err != 0;
	}
	if (failed)
		log_warn("%zu runs of clients could not be continued", failed);
}

void handover_begin(struct handover *h, bool same_books)
{
	double gap = (double)(clock_ns(CLOCK_MONOTONIC) - left_number(h->state, "written_ns")) /
		     NSEC_PER_SEC;

	if (!h->state)
		return;
	h->node = (struct node_before){ .jobs = json_object_get(h->state, "jobs"),
					.cgroups = json_object_get(h->state, "cgroups"),
					.same_books = same_books };
	if (!same_books)
		snprintf(h->gap, sizeof(h->gap),
			 "the agent was restarted with other programs or settings: %.1f s were not "
			 "measured",
			 gap);
	else if (!json_is_true(json_object_get(h->state, "final")))
		snprintf(
			h->gap, sizeof(h->gap),
			"the agent was killed: peaks and records of the last %.1f s may be missing",
			gap);
	h->node.gap = *h->gap ? h->gap : NULL;
}
