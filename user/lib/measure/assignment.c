// SPDX-License-Identifier: BSD-2-Clause
#include "measure/assignment.h"

#include "base/pidfd.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

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

static void assignment_take_wishes(struct assignment *a, const struct request *r)
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
	assignment_take_wishes(a, r);
	err = assignment_take_sockets(a, r, why, size);
	if (!err)
		err = assignment_take_processes(a, r, why, size);
	return err ? err : assignment_take_cgroup(a, r, why, size);
}

int assignment_take_request(struct assignment *a, struct message *m, char *why, size_t size)
{
	struct request r;
	int err = request_read(&r, m->text, m->length, m->fds, m->nr_fds, why, size);

	message_done(m);
	if (err)
		return err;
	err = assignment_take(a, &r, why, size);
	request_close_followed(&r);
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
