// SPDX-License-Identifier: BSD-2-Clause
#include "measure/tenant.h"

#include "base/clock.h"
#include "base/oom.h"
#include "base/fd.h"
#include "run/writer.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

void tenant_init(struct tenant *t, struct loop *loop)
{
	memset(t, 0, sizeof(*t));
	t->loop = loop;
	t->assignment.spec.stream_fd = t->assignment.spec.span_fd = -1;
	for (int i = 0; i < NR_TENANT_SOURCES; i++)
		t->sources[i].fd = -1;
	job_init(&t->job);
	span_desk_init(&t->desk);
	live_init(&t->live, loop, &t->job.view);
}

int tenant_start_threads(struct tenant *t, char *why, size_t size)
{
	const struct intake *intake = t->assignment.spec.intake;
	int err;

	job_open_waits(&t->job); /* here: no rights are dropped afterwards */
	t->assignment.intake.discard = &t->loop->discard;
	err = intake ? pushed_start(&t->job.pushed, intake) : 0;

	if (err) {
		snprintf(why, size, "cannot receive data from programs: %s", strerror(-err));
		return err;
	}
	err = job_start_pss(&t->job);
	if (err)
		snprintf(why, size, "cannot start the thread that reads PSS: %s", strerror(-err));
	return err;
}

static void handle_feed(void *context, uint32_t events)
{
	struct tenant *t = context;

	if (events & (EPOLLERR | EPOLLHUP)) {
		t->feed.is_broken = true;
		loop_remove(t->loop, &t->sources[TENANT_FEED]);
		t->sources[TENANT_FEED].fd = -1;
	} else {
		feed_flush(&t->feed);
	}
}

static void handle_pushed(void *context, uint32_t events)
{
	(void)context, (void)events; /* tenant_attend() handles it after every event */
}

static void handle_pss(void *context, uint32_t events)
{
	(void)events;
	job_take_pss(&((struct tenant *)context)->job);
}

static int source_open(struct tenant *t, enum tenant_source id, int fd, uint32_t events,
		       void (*ready)(void *context, uint32_t events))
{
	t->sources[id] = (struct loop_source){ .fd = fd, .ready = ready, .context = t };
	return fd < 0 ? 0 : loop_add(t->loop, &t->sources[id], events);
}

int tenant_open_sources(struct tenant *t)
{
	int err = source_open(t, TENANT_FEED, t->feed.fd, 0, handle_feed);

	if (!err)
		err = source_open(t, TENANT_PUSHED, t->job.pushed.inbox.wake_fd, EPOLLIN,
				  handle_pushed);
	if (!err)
		err = source_open(t, TENANT_PSS, job_pss_fd(&t->job), EPOLLIN, handle_pss);
	return err;
}

int tenant_open_desk(struct tenant *t)
{
	return span_desk_open(&t->desk, t->assignment.spec.span_fd, t->loop, &t->job, &t->live);
}

static void summary_set_status(struct summary *sum, int status)
{
	sum->has_status = true;
	if (WIFSIGNALED(status))
		sum->signal = WTERMSIG(status);
	else
		sum->exit_code = WEXITSTATUS(status);
}

void tenant_set_incomplete(struct tenant *t, const char *reason)
{
	struct summary *sum = &t->job.view.tally.summary;

	sum->complete = false;
	snprintf(sum->reason, sizeof(sum->reason), "%s", reason);
}

void tenant_set_killed(struct tenant *t, const char *role, const char *effect)
{
	char reason[sizeof(t->job.view.tally.summary.reason)];

	snprintf(reason, sizeof(reason), "the %s was killed%s%s", role, oom_count_text(), effect);
	tenant_set_incomplete(t, reason);
}

static enum progress progress_after(struct tenant *t, const struct control *c)
{
	const struct job_spec *spec = &t->assignment.spec;

	if (c->type == CONTROL_STOP && !spec->command)
		return OVER; /* the regular end of an attachment */
	if (c->type == CONTROL_ENDED) {
		summary_set_status(&t->job.view.tally.summary, c->value);
		return spec->wait_tree || t->job.limits.is_ending ? COMMAND_ENDED : OVER;
	}
	tenant_set_incomplete(t, t->progress == RUNNING
					 ? "stopped before the command had ended"
					 : "stopped before the last descendant had ended");
	return OVER;
}

void tenant_handle_control(struct tenant *t, const struct control *c)
{
	if (c && c->type == CONTROL_KILL) {
		limit_watch_kill(&t->job);
	} else if (c) {
		t->progress = progress_after(t, c);
	} else {
		tenant_set_killed(t, "launcher", "");
		t->progress = OVER;
	}
}

void tenant_note_ticks(struct tenant *t, uint64_t passed)
{
	struct job *job = &t->job;

	if (passed <= 1)
		return;
	/* a slow sample, or a loaded machine */
	job->view.tally.summary.late_ticks += passed - 1;
	write_event(&job->view.json, job->view.run, clock_ns(CLOCK_MONOTONIC) - job->view.start_ns,
		    "late_ticks", passed - 1);
	feeds_put(&job->view.feeds, &job->view.json);
}

void tenant_watch_feed(struct tenant *t)
{
	bool waits = feed_is_waiting(&t->feed);

	if (waits != t->feed_waits && !t->feed.is_broken && t->sources[TENANT_FEED].fd >= 0)
		loop_change(t->loop, &t->sources[TENANT_FEED], waits ? EPOLLOUT : 0);
	t->feed_waits = waits;
	live_watch(&t->live);
}

void tenant_attend(struct tenant *t)
{
	job_release_overdue(&t->job);
	job_take_pushed(&t->job);
	span_desk_attend(&t->desk);
	limit_watch_attend(&t->job);
}

int tenant_wait(struct tenant *t, int wait_ms)
{
	wait_ms =
		job_pushed_wait(&t->job, job_pss_wait(&t->job, span_desk_wait(&t->desk, wait_ms)));
	return limit_watch_wait(&t->job, wait_ms);
}

bool tenant_may_close_job(struct tenant *t)
{
	return inbox_request_stop(&t->job.pushed.inbox);
}

bool tenant_is_abandoned(const struct tenant *t)
{
	return t->job.pushed.inbox.is_abandoned;
}

void tenant_close_job(struct tenant *t)
{
	span_desk_close(&t->desk);
	job_close(&t->job);
}

void tenant_done(struct tenant *t)
{
	/* closing a socket is not enough while the client has it open */
	for (int i = 0; i < NR_TENANT_SOURCES; i++)
		if (t->sources[i].fd >= 0)
			loop_remove(t->loop, &t->sources[i]);
	span_desk_close(&t->desk);
	live_close(&t->live);
	job_done(&t->job);
	feed_done(&t->feed);
	assignment_done(&t->assignment);
}

static bool descriptor_is_socket(int fd)
{
	struct stat st;

	return fd < 0 || (!fstat(fd, &st) && S_ISSOCK(st.st_mode));
}

void assignment_name_socket(struct assignment *a)
{
	struct sockaddr_un at = { 0 };
	socklen_t size = sizeof(at);
	size_t n;

	if (a->spec.span_fd < 0 || getsockname(a->spec.span_fd, (struct sockaddr *)&at, &size) ||
	    at.sun_family != AF_UNIX || size <= offsetof(struct sockaddr_un, sun_path) + 1 ||
	    size > sizeof(at) || at.sun_path[0])
		return; /* it has no abstract name */
	n = size - offsetof(struct sockaddr_un, sun_path) - 1;
	snprintf(a->run.live_socket, sizeof(a->run.live_socket), "@%.*s", (int)n, at.sun_path + 1);
}

static int assignment_take_sockets(struct assignment *a, struct request *r, char *why, size_t size)
{
	bool are_sockets = descriptor_is_socket(r->stream_fd) &&
			   descriptor_is_socket(r->marks_fd) && descriptor_is_socket(r->span_fd);
	bool is_listened_to = r->marks_fd >= 0;

	a->intake.marks_fd = r->marks_fd;
	for (size_t i = 0; i < UDP_SOCKETS; i++) {
		a->intake.udp_fds[i] = r->udp_fds[i];
		are_sockets &= descriptor_is_socket(r->udp_fds[i]);
		is_listened_to |= r->udp_fds[i] >= 0;
	}
	a->spec.intake = is_listened_to ? &a->intake : NULL;
	a->spec.stream_fd = r->stream_fd;
	a->spec.span_fd = r->span_fd;
	assignment_name_socket(a);
	r->stream_fd = r->marks_fd = r->span_fd = -1;
	for (size_t i = 0; i < UDP_SOCKETS; i++)
		r->udp_fds[i] = -1;
	if (are_sockets)
		return 0;
	snprintf(why, size, "a stream or a socket for programs is not a socket");
	return -ENOTSOCK;
}

/* Leaves out processes that have ended; it is an error if all have. */
static int assignment_take_processes(struct assignment *a, const struct request *r, char *why,
				     size_t size)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_pids; i++) {
		pid_t pid = pidfd_pid(r->pid_fds[i]);

		if (pid > 0)
			a->pids[nr++] = pid;
		else if (pid != -ESRCH) {
			snprintf(why, size, "cannot access a process to measure: %s",
				 strerror(-pid));
			return pid;
		}
	}
	if (!nr && r->nr_pids) {
		snprintf(why, size, "the target has just ended");
		return -ESRCH;
	}
	if (r->follow == FOLLOW_COMMAND) {
		a->spec.command = a->pids[0];
	} else {
		a->spec.targets = a->pids;
		a->spec.nr_targets = nr;
	}
	return 0;
}

/* Finds the path of the folder @fd in this process's own namespace. */
static int folder_find_path(int fd, char path[4096], char *why, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, 4096);
	if (n > 0 && n < 4096) {
		path[n] = '\0';
		return 0;
	}
	snprintf(why, size, "cannot find the path of the cgroup: %s",
		 strerror(n < 0 ? errno : ENAMETOOLONG));
	return n < 0 ? -errno : -ENAMETOOLONG;
}

static bool folder_is_v2(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int assignment_take_cgroup(struct assignment *a, const struct request *r, char *why,
				  size_t size)
{
	struct stat st;
	int err;

	if (r->cgroup_fd < 0)
		return 0;
	err = folder_find_path(r->cgroup_fd, a->cgroup.path, why, size);
	if (!err && r->follow == FOLLOW_COMMAND) {
		a->spec.cgroup = &a->cgroup;
		if (folder_is_v2(r->cgroup_fd))
			a->spec.tracker.wire_cgroup = a->cgroup.path;
		return 0;
	}
	if (!err)
		err = cgroup_target_find("/proc/self", a->cgroup.path, &a->target, why, size);
	if (!err && (fstat(r->cgroup_fd, &st) || st.st_ino != a->target.id)) {
		snprintf(why, size, "the cgroup has just been removed");
		err = -ENOENT;
	}
	a->spec.tracker.cgroup = &a->target;
	if (a->target.cg.is_v2)
		a->spec.tracker.wire_cgroup = a->target.cg.path;
	return err;
}

static void assignment_take_options(struct assignment *a, const struct request *r)
{
	struct tracker_options *t = &a->spec.tracker;

	a->run.wanted = t->wanted = r->wanted;
	a->run.interval_ns = t->interval_ns = r->interval_ns;
	t->no_args = r->no_args;
	t->exact_peak = r->exact_peak;
	t->net_peers = r->net_peers > 0;
	t->want_memory = r->process_samples > 0;
	t->can_seed = r->follow != FOLLOW_COMMAND;
	for (unsigned i = 0; i < r->nr_limits; i++)
		t->may_end |= !r->limits[i].is_soft;
	t->can_move = r->span_fd >= 0 && r->follow == FOLLOW_COMMAND;
	a->spec.duration_ns = r->duration_ns;
	a->spec.named_boot_ns = r->named_boot_ns;
	a->spec.process_samples = r->process_samples;
	memcpy(a->limits, r->limits, sizeof(a->limits));
	a->spec.limits = a->limits;
	a->spec.nr_limits = r->nr_limits;
	a->spec.stalled_after_ns = r->stalled_after_ns;
	a->spec.stalled_below_ppm = r->stalled_below_ppm;
	a->spec.net_peers = r->net_peers;
	a->spec.pss_ppm = r->pss_ppm;
	a->spec.wait_tree = r->wait_tree;
	a->spec.span_samples = r->span_samples;
	a->spec.wait_start = r->wait_start;
	a->spec.hides_others = r->hides_others;
	a->spec.shown_to = r->shown_to;
}

int assignment_take(struct assignment *a, struct request *r, char *why, size_t size)
{
	int err;

	a->spec.run = &a->run;
	assignment_take_options(a, r);
	err = assignment_take_sockets(a, r, why, size);
	if (!err)
		err = assignment_take_processes(a, r, why, size);
	return err ? err : assignment_take_cgroup(a, r, why, size);
}

int assignment_take_again(struct assignment *a, struct request *r, const pid_t *pids, size_t nr,
			  char *why, size_t size)
{
	a->spec.run = &a->run;
	a->is_described = true;
	assignment_take_options(a, r);
	memcpy(a->pids, pids, nr * sizeof(*pids));
	if (r->follow == FOLLOW_COMMAND) {
		a->spec.command = a->pids[0];
	} else {
		a->spec.targets = a->pids;
		a->spec.nr_targets = nr;
	}
	return assignment_take_sockets(a, r, why, size);
}

int assignment_take_request(struct assignment *a, struct message *m, char *why, size_t size)
{
	struct request r;
	int err = request_read(&r, m->text, m->length, m->fds, m->nr_fds, why, size);

	message_done(m);
	if (err)
		return err;
	err = assignment_take(a, &r, why, size);
	request_close_targets(&r);
	return err;
}

int assignment_take_description(struct assignment *a, struct message *m, char *why, size_t size)
{
	int err;

	if (a->is_described) {
		snprintf(why, size, "it has one");
		err = -EBADMSG;
	} else {
		err = description_read(&a->described, m->text, m->length, &a->run, why, size);
	}
	message_done(m);
	a->is_described |= !err;
	return err;
}

void assignment_done(struct assignment *a)
{
	described_done(&a->described);
}
