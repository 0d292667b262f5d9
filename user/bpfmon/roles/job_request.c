// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/job_request.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/fd.h"
#include "base/user.h"
#include "run/description.h"
#include "run/meta_cgroup.h"
#include "run/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_PATIENCE_MS 5000 /* with a collector that does not read */

static int request_open_process(struct request *r, pid_t pid)
{
	int fd = pidfd_make(pid);

	if (fd < 0)
		return fd;
	r->pid_fds[r->nr_pids++] = fd;
	return 0;
}

/* Skips processes that have ended since they were named, unless all have. */
static int request_open_targets(struct request *r, const struct launch_options *o)
{
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_targets; i++) {
		err = request_open_process(r, o->targets[i]);
		if (err == -ESRCH && (r->nr_pids || i + 1 < o->nr_targets))
			err = 0;
		else if (err == -ESRCH)
			log_error("process %d has just ended", o->targets[i]);
		else if (err)
			log_error("cannot open process %d: %s", o->targets[i], strerror(-err));
	}
	return err;
}

static int request_open_command(struct request *r, pid_t command)
{
	int err = request_open_process(r, command);

	if (err)
		log_error("cannot open the command's process %d: %s", command, strerror(-err));
	return err;
}

static int request_open_cgroup(struct request *r, const char *path)
{
	r->cgroup_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->cgroup_fd >= 0)
		return 0;
	log_error("cannot open the cgroup '%s': %s", path, strerror(errno));
	return -errno;
}

static int request_open_tracked(struct request *r, const struct launch_options *o, pid_t command)
{
	const char *cgroup = o->target ? o->target->cg.path : o->cgroup ? o->cgroup->path : NULL;
	int err = 0;

	if (o->target_job) {
		r->follow = FOLLOW_JOB;
		snprintf(r->job, sizeof(r->job), "%s", o->target_job);
		return 0;
	}
	r->follow = command ? FOLLOW_COMMAND : o->target ? FOLLOW_CGROUP : FOLLOW_PROCESSES;
	if (r->follow != FOLLOW_CGROUP)
		err = command ? request_open_command(r, command) : request_open_targets(r, o);
	if (!err && cgroup)
		err = request_open_cgroup(r, cgroup);
	return err;
}

static int request_send(const struct role *collector, const struct request *r)
{
	int fds[REQUEST_FDS], err;
	size_t nr = request_fds(r, fds);
	struct jsonw j = { 0 };

	request_write(&j, r);
	err = message_send_json(collector->control_fd, CONTROL_REQUEST, &j, fds, nr,
				REQUEST_PATIENCE_MS);
	/* the end of a collector is seen where it is awaited */
	if (err && err != -EPIPE && err != -ECONNRESET)
		log_error("cannot send the request to the collector: %s", strerror(-err));
	return err == -EPIPE || err == -ECONNRESET ? 0 : err;
}

int job_request_send(struct roles *roles, struct launch_options *o, pid_t command)
{
	struct request *r = &o->request;
	int err;

	r->stream_fd = roles->stream_fd;
	if (o->intake && o->intake->is_on) {
		r->marks_fd = o->intake->intake.marks_fd;
		memcpy(r->udp_fds, o->intake->intake.udp_fds, sizeof(r->udp_fds));
	}
	if (o->intake && o->intake->span_fd >= 0)
		r->span_fd = o->intake->span_fd;
	if (o->intake)
		snprintf(r->spans, sizeof(r->spans), "%s", o->intake->span_name);
	err = request_open_tracked(r, o, command);
	if (!err)
		err = request_send(&roles->collector, r);
	request_close_targets(r);
	close(roles->stream_fd);
	roles->stream_fd = -1;
	if (o->intake)
		intake_hand_over(o->intake);
	return err;
}

#define NO_MEMORY 1      /* bytes that come instead of a revision */
#define PATIENCE_MS 1000 /* with a file system that does not answer */

/* Returns the PID if a single process was attached to, else 0. */
static pid_t target_pid(const struct launch_options *o)
{
	return o->nr_targets == 1 ? o->targets[0] : 0;
}

/*
 * The facts about machine and run are read while the launcher would only wait for the other
 * processes, so that the start takes no longer: opening /proc/cpuinfo takes 10 ms on some kernels.
 * A child reads the git revision; once the command runs, it is waited for up to a second.
 */

/* Holds no descriptor of the launcher open, and ends by itself in any case. */
static void revision_read(const struct user *as, const char *folder, int out)
{
	struct git g = { 0 };
	sigset_t none;
	int fd;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	alarm(2 * PATIENCE_MS / 1000);
	if (dup2(out, STDIN_FILENO) < 0 || syscall(SYS_close_range, 1, ~0U, 0))
		_exit(1);
	if (as && user_become(as))
		_exit(1);
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC); /* before dropping capabilities, as
								another process's cwd needs them */
	if (fd < 0 || privilege_keep(0) || git_read(fd, &g))
		_exit(memory_has_failed() ? write(STDIN_FILENO, "", NO_MEMORY) != NO_MEMORY : 0);
	_exit(write(STDIN_FILENO, &g, sizeof(g)) == sizeof(g) ? 0 : 1);
}

static void revision_start_reader(struct description *d, const struct launch_options *o)
{
	char folder[64] = ".";
	int ends[2];

	if (!o->argv && !target_pid(o))
		return;
	if (target_pid(o))
		snprintf(folder, sizeof(folder), "/proc/%d/cwd", target_pid(o));
	if (pipe2(ends, O_CLOEXEC))
		return;
	d->reader = fork();
	if (!d->reader)
		revision_read(o->caller, folder, ends[1]);
	close(ends[1]);
	d->reader_fd = ends[0];
	if (d->reader < 0)
		d->reader = 0;
}

/* Limits and cgroup of a process are in /proc, which may hide it from the caller of sudo. */
static bool target_is_visible(const struct launch_options *o)
{
	char path[64];
	struct stat st;

	/* belongs to root if the process is not dumpable */
	snprintf(path, sizeof(path), "/proc/%d/status", target_pid(o));
	return !o->request.hides_others || (!stat(path, &st) && st.st_uid == o->request.shown_to);
}

static void target_describe(struct meta *m, const struct launch_options *o)
{
	const struct cgroup_target *t = o->target;
	char proc[64];

	if (t) {
		limits_of_cgroup("/proc/self", t, &m->limits);
		memcpy(m->limits.cgroup, t->in_kernel, sizeof(m->limits.cgroup));
		container_of_cgroup(t->in_kernel, &m->container);
	} else if (target_pid(o) && target_is_visible(o)) {
		snprintf(proc, sizeof(proc), "/proc/%d", target_pid(o));
		limits_of_process("/proc/self", proc, NULL, &m->limits);
		container_of_process(proc, &m->container);
	}
}

void description_begin(struct description *d, struct launch_options *o)
{
	struct meta *m = memory_calloc(1, sizeof(*m));

	*d = (struct description){ .meta = m, .reader_fd = -1 };
	o->run->meta = m;
	if (!m)
		return;
	revision_start_reader(d, o);
}

void description_fill(struct description *d, const struct launch_options *o)
{
	struct meta *m = d->meta;

	if (!m)
		return;
	system_read_kernel(&m->system);
	system_read("", &m->system);
	if (!o->argv) {
		target_describe(m, o);
		return;
	}
	limits_of_process("/proc/self", "/proc/self", o->cgroup, &m->limits);
	container_of_self("", "/proc/self", &m->container);
	scheduler_read(o->request.no_args, m);
}

static void revision_take(struct description *d)
{
	struct pollfd p = { .fd = d->reader_fd, .events = POLLIN };
	struct git g;
	ssize_t n = 0;

	if (!d->reader)
		return;
	/* reaped with all other children: it may be stopped before its end */
	if (poll(&p, 1, PATIENCE_MS) == 1)
		n = read(d->reader_fd, &g, sizeof(g));
	if (n == sizeof(g) && git_is_valid(&g))
		d->meta->git = g;
	else if (n == NO_MEMORY)
		log_warn("cannot record the git revision of the working directory: out of memory");
	close(d->reader_fd);
	d->reader = 0;
}

void description_send(struct description *d, const struct roles *roles, struct run *run)
{
	struct jsonw j = { 0 };
	int err;

	revision_take(d);
	description_write(&j, run);
	err = message_send_json(roles->collector.control_fd, CONTROL_DESCRIPTION, &j, NULL, 0,
				PATIENCE_MS);
	/* the end of a collector is seen where it is awaited */
	if (err && err != -EPIPE && err != -ECONNRESET)
		log_warn("cannot record the description of the run: %s",
			 err == -ENOMEM ? "out of memory" : strerror(-err));
	run->meta = NULL;
	free(d->meta);
	d->meta = NULL;
}

void description_cancel(struct description *d)
{
	free(d->meta);
	d->meta = NULL;
	if (!d->reader)
		return;
	kill(d->reader, SIGKILL);
	for (int ms = 0; ms < PATIENCE_MS && !waitpid(d->reader, NULL, WNOHANG); ms++)
		poll(NULL, 0, 1);
	close(d->reader_fd);
	d->reader = 0;
}
