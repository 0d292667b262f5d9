// SPDX-License-Identifier: BSD-2-Clause
#include "collect/request.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pidfd.h"
#include "wire/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char gone[] = "the launcher is gone";

/* Waits for a packet that is a message of its own or the last part of one; as message_receive(). */
static int assignment_next(struct assignment *a, struct control *c)
{
	struct pollfd p = { .fd = a->spec.control_fd, .events = POLLIN };
	int got;

	for (;;) {
		got = message_receive(&a->message, p.fd, c);
		if (got != -EAGAIN)
			return got;
		poll(&p, 1, -1);
	}
}

static bool descriptor_is_socket(int fd)
{
	struct stat st;

	return fd < 0 || (!fstat(fd, &st) && S_ISSOCK(st.st_mode));
}

static int assignment_take_sockets(struct assignment *a, const struct request *r, char *why,
				   size_t size)
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
	if (are_sockets)
		return 0;
	snprintf(why, size, "a stream, or what programs push to, is not a socket");
	return -ENOTSOCK;
}

/* Processes that have ended by now are left out; if all have, it is an error. */
static int assignment_take_processes(struct assignment *a, const struct request *r, char *why,
				     size_t size)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->nr_pids; i++) {
		pid_t pid = pidfd_pid(r->pid_fds[i]);

		if (pid > 0)
			a->pids[nr++] = pid;
		else if (pid != -ESRCH) {
			snprintf(why, size, "a process that is to be followed cannot be seen: %s",
				 strerror(-pid));
			return pid;
		}
	}
	if (!nr && r->nr_pids) {
		snprintf(why, size, "what is to be followed has just ended");
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

/* The path of the folder @fd in this process's own namespace. */
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
	snprintf(why, size, "the cgroup's folder has no path: %s",
		 strerror(n < 0 ? errno : ENAMETOOLONG));
	return n < 0 ? -errno : -ENAMETOOLONG;
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
		return 0;
	}
	if (!err)
		err = cgroup_target_find("/proc/self", a->cgroup.path, &a->target, why, size);
	if (!err && (fstat(r->cgroup_fd, &st) || st.st_ino != a->target.id)) {
		snprintf(why, size, "the cgroup has just been removed");
		err = -ENOENT;
	}
	a->spec.tracker.cgroup = &a->target;
	return err;
}

static void assignment_take_wishes(struct assignment *a, const struct request *r)
{
	struct tracker_options *t = &a->spec.tracker;

	a->run.wanted = t->wanted = r->wanted;
	a->run.interval_ns = t->interval_ns = r->interval_ns;
	t->no_args = r->no_args;
	t->exact_peak = r->exact_peak;
	t->want_memory = r->process_samples > 0;
	t->can_seed = r->follow != FOLLOW_COMMAND;
	t->can_move = r->span_fd >= 0;
	a->spec.duration_ns = r->duration_ns;
	a->spec.named_boot_ns = r->named_boot_ns;
	a->spec.process_samples = r->process_samples;
	a->spec.pss_ppm = r->pss_ppm;
	a->spec.wait_tree = r->wait_tree;
	a->spec.span_samples = r->span_samples;
	a->spec.wait_start = r->wait_start;
	a->spec.hides_others = r->hides_others;
	a->spec.shown_to = r->shown_to;
}

/* What does not come from the request. */
static void assignment_take_options(struct assignment *a, const struct collector_options *o)
{
	struct tracker_options *t = &a->spec.tracker;

	a->spec.control_fd = o->control_fd;
	a->spec.recorder = o->recorder;
	a->spec.run = &a->run;
	t->verbose = o->verbose;
	t->max_tasks = o->max_tasks;
	t->inject_misses = o->inject_misses;
	t->refused = o->refused;
	t->unattached = o->unattached;
	a->spec.pss_delay_ns = o->slow_pss_ms * (uint64_t)NSEC_PER_MSEC;
	a->run.is_altered = o->inject_misses || o->slow_pss_ms || o->refused || o->unattached;
	run_describe_machine(&a->run);
}

static int assignment_take_request(struct assignment *a, char *why, size_t size)
{
	struct message *m = &a->message;
	struct request r;
	int err = request_read(&r, m->text, m->length, m->fds, m->nr_fds, why, size);

	message_done(m);
	if (err)
		return err;
	assignment_take_wishes(a, &r);
	err = assignment_take_sockets(a, &r, why, size);
	if (!err)
		err = assignment_take_processes(a, &r, why, size);
	if (!err)
		err = assignment_take_cgroup(a, &r, why, size);
	request_close_followed(&r);
	return err;
}

int assignment_receive(struct assignment *a, const struct collector_options *o, char *why,
		       size_t size)
{
	struct control c;
	char wrong[512];
	int got;

	memset(a, 0, sizeof(*a));
	assignment_take_options(a, o);
	a->message.limit = REQUEST_BYTES;
	got = assignment_next(a, &c);
	if (got == 1 && c.type == CONTROL_REQUEST) {
		got = assignment_take_request(a, wrong, sizeof(wrong));
		if (got)
			snprintf(why, size, "the collector cannot take the request: %s", wrong);
		return got;
	}
	snprintf(why, size, "the collector has received no request: %s",
		 got < 0 ? strerror(-got) : gone);
	return got < 0 ? got : -EPROTO;
}

static void assignment_take_description(struct assignment *a)
{
	char why[256];
	int err = a->is_described ? -EBADMSG
				  : description_read(&a->described, a->message.text,
						     a->message.length, &a->run, why, sizeof(why));

	message_done(&a->message);
	if (err)
		log_warn("the collector cannot take the description of the run: %s",
			 a->is_described ? "it has one" : why);
	a->is_described |= !err;
}

bool assignment_wait_for_start(struct assignment *a, uint64_t *when_ns)
{
	struct control c;
	int got;

	a->message.limit = DESCRIPTION_BYTES;
	while ((got = assignment_next(a, &c)) == 1 && c.type == CONTROL_DESCRIPTION)
		assignment_take_description(a);
	message_done(&a->message);
	if (got < 0)
		log_warn("the collector cannot read from the launcher: %s; nothing is recorded",
			 strerror(-got));
	if (got != 1 || c.type != CONTROL_START)
		return false;
	*when_ns = c.when_ns;
	return true;
}

void assignment_done(struct assignment *a)
{
	message_done(&a->message);
	described_done(&a->described);
}

int collector_send_summary(int control_fd, const struct summary *s)
{
	struct jsonw j = { 0 };

	write_summary(&j, s);
	return message_send_json(control_fd, CONTROL_SUMMARY, &j, NULL, 0, -1);
}
