// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/launcher.h"

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/roles/attend.h"
#include "bpfmon/roles/describe.h"
#include "bpfmon/roles/job_request.h"
#include "bpfmon/roles/own_cgroup.h"
#include "bpfmon/roles/ready.h"
#include "bpfmon/roles/launch_rights.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/roles/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct launcher {
	struct launch_options *options;
	struct spawn command;
	struct own_cgroup cgroup; /* of the command; only where it has its own */
	struct intake_sockets intake;
	struct roles roles;
	struct description description;
	struct attendance attendance;
	int signal_fd;
	int cancelled_by; /* a signal, before the command ran; 0: none */
};

/* Descriptors of bpfmon are never 0 to 2, which the command would take for its own. */
static int standard_descriptors_plug(bool *stdout_is_closed)
{
	int fd;

	*stdout_is_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int launcher_end_by(int sig)
{
	signals_die(sig);
	return 128 + sig;
}

static int launcher_finish(const struct attendance *a)
{
	if (limit_end_has_begun(&a->limits))
		return EXIT_LIMIT;
	if (!a->command_ended) {
		log_warn("asked twice to end: the command (process %d) is left running",
			 a->command);
		return launcher_end_by(a->requests.signal);
	}
	return WIFSIGNALED(a->command_status) ? launcher_end_by(WTERMSIG(a->command_status))
					      : WEXITSTATUS(a->command_status);
}

static int launcher_start(struct launcher *l)
{
	const char *step = "start";
	uint64_t now;
	int err;

	if (memory_has_failed()) {
		log_error("out of memory before the command was run");
		return EXIT_BPFMON;
	}
	if (roles_wait_until_ready(&l->roles, l->command.pid, l->signal_fd, &l->cancelled_by))
		return EXIT_BPFMON;
	log_info("the command is process %d%s%s", l->command.pid,
		 l->options->run_as ? ", of user " : "",
		 l->options->run_as ? l->options->run_as->name : "");
	now = clock_ns(CLOCK_MONOTONIC);
	spawn_go(&l->command);
	command_wait_for_exec(&l->command, l->signal_fd);
	err = spawn_result(&l->command, &step);
	if (!err) {
		description_send(&l->description, &l->roles, l->options->run);
		role_send(&l->roles.collector, CONTROL_START, 0, now);
		return 0;
	}
	log_error("cannot %s '%s': %s", step, l->options->argv[0], strerror(-err));
	if (!l->command.is_ready)
		return EXIT_BPFMON;
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int command_fork(struct launcher *l, sigset_t *mask)
{
	struct sigaction children = { .sa_handler = SIG_DFL }, inherited;
	struct launch_options *o = l->options;
	int err;

	/* ignored, the kernel would reap the children before their status is read */
	sigaction(SIGCHLD, &children, &inherited);
	l->signal_fd = signals_open(mask);
	if (o->own_cgroup && own_cgroup_make(&l->cgroup))
		return -ENOENT;
	l->command.streams = o->streams;
	err = l->signal_fd < 0 ? -errno
			       : spawn_fork(&l->command, o->argv, mask, &inherited,
					    o->own_cgroup ? &l->cgroup.cg : NULL, o->run_as);
	if (err)
		log_error("cannot prepare the command's process: %s", strerror(-err));
	return err;
}

/*
 * There is no run. In a PID namespace that begins with the command's process that one cannot end
 * before all others there have been waited for.
 */
static void launcher_cancel(struct launcher *l)
{
	spawn_cancel(&l->command);
	description_cancel(&l->description);
	roles_stop(&l->roles, ROLES_UNNEEDED_GRACE_MS);
	spawn_wait(&l->command);
}

/* Until the command runs. 0, or the exit status. */
static int launcher_prepare(struct launcher *l)
{
	sigset_t mask;
	int err, code;

	if (command_fork(l, &mask))
		return EXIT_BPFMON;
	streams_unblock();
	if (l->options->own_cgroup) {
		l->options->cgroup = &l->cgroup.cg;
		l->options->cgroup_keeper_fd = l->cgroup.keeper_fd;
	}
	err = roles_fork(&l->roles, l->options, &l->command, l->signal_fd, &mask);
	if (err)
		log_error("cannot start collector and recorder: %s", strerror(-err));
	if (!err && l->options->agent_fd >= 0)
		spawn_wait_until_prepared(&l->command);
	if (!err) {
		/* first its reader: what the launcher forks is known to the collector by then */
		description_begin(&l->description, l->options);
		err = job_request_send(&l->roles, l->options, l->command.pid);
	}
	if (err) {
		code = EXIT_BPFMON;
	} else {
		description_fill(&l->description, l->options);
		rights_of_launcher();
		code = launcher_start(l);
	}
	if (code)
		launcher_cancel(l);
	return code;
}

static int launcher_open_intake(struct launcher *l)
{
	struct launch_options *o = l->options;
	int err = intake_open(&l->intake, &o->push, o->run_as, o->agent_fd >= 0);

	o->intake = &l->intake;
	return err;
}

int launcher_run(struct launch_options *o)
{
	struct launcher l = { .options = o };
	int err = standard_descriptors_plug(&o->recorder.stdout_is_closed), code;

	if (err) {
		log_error("cannot open /dev/null: %s", strerror(-err));
		return EXIT_BPFMON;
	}
	if (launcher_open_intake(&l))
		return EXIT_BPFMON;
	code = launcher_prepare(&l);
	if (!code) {
		l.attendance = (struct attendance){ .command = l.command.pid,
						    .roles = &l.roles,
						    .signal_fd = l.signal_fd,
						    .limits = { .grace_ns = o->limit_grace_ns,
								.limits = o->request.limits,
								.origins = o->limit_origins,
								.keeper_fd = -1 } };
		if (o->own_cgroup)
			l.attendance.limits.keeper_fd = l.cgroup.keeper_fd;
		attendance_run(&l.attendance);
		if (o->outcome)
			*o->outcome = (struct launch_outcome){ l.attendance.command_ended,
							       l.attendance.command_status };
	}
	intake_remove(&l.intake);
	if (*l.cgroup.cg.path)
		own_cgroup_remove(&l.cgroup);
	if (l.cancelled_by)
		return launcher_end_by(l.cancelled_by);
	return code ? code : launcher_finish(&l.attendance);
}
