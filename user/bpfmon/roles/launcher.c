// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/launcher.h"

#include "base/clock.h"
#include "base/message.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/reaped.h"
#include "base/memory.h"
#include "base/patience.h"
#include "base/stack.h"
#include "base/user.h"
#include "base/seccomp.h"
#include "bpfmon/roles/job_request.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/roles/own_cgroup.h"
#include "bpfmon/roles/roles.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* State of the launcher from the start of the command until the roles have ended. */

struct attendance {
	pid_t command;
	struct roles *roles; /* not owned */
	int signal_fd;
	struct end_requests
		requests; /* SIGTERM only; all requests when the command has ended or is left */
	struct limit_end limits; /* state of the end beyond a limit */
	bool command_ended;
	int command_status;   /* from wait(2) */
	bool is_detached;     /* the run is closed; the command may still run */
	struct reaped reaped; /* usage of reaped children, if the collector needs it */
	bool has_unsent;      /* some of it has not been sent */
	bool has_stopped_too; /* with the command; the next SIGCONT of the launcher is for both */
};

/* Best effort: the message that the command has ended carries all totals, too. */
static void attendance_send_reaped(struct attendance *a)
{
	const struct role *collector = &a->roles->collector;
	char text[REAPED_BYTES];

	if (!collector->pid || !control_has_room(collector->control_fd))
		return;
	reaped_print(&a->reaped, text);
	if (!control_send(collector->control_fd, CONTROL_REAPED, 0, 0, text))
		a->has_unsent = false;
}

static void attendance_note_end(struct attendance *a, pid_t pid, int status)
{
	struct roles *roles = a->roles;
	char text[REAPED_BYTES] = "";

	if (pid != a->command) {
		roles_note_end(roles, pid, status);
		return;
	}
	a->command_ended = true;
	a->limits.command = 0;
	a->command_status = status;
	if (roles->wants_reaped)
		reaped_print(&a->reaped, text);
	role_send_text(&roles->collector, CONTROL_ENDED, status, 0, text);
}

static bool child_is_of_the_run(const struct attendance *a, pid_t pid)
{
	return a->roles->wants_reaped && !own_children_has(&a->roles->own, pid);
}

/* Reads the usage of a zombie before reaping it. */
static bool attendance_reap_one(struct attendance *a)
{
	siginfo_t news = { 0 };
	int status = 0, stopped_by;
	pid_t pid;

	if (waitid(P_ALL, 0, &news, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) || !news.si_pid)
		return false;
	pid = news.si_pid;
	if (news.si_code == CLD_STOPPED) {
		stopped_by = news.si_status;
		waitid(P_PID, (id_t)pid, &news, WSTOPPED | WNOHANG);
		if (pid != a->command) /* a role may be stopped, too */
			return true;
		status_line_release(&a->roles->line); /* for the shell */
		a->has_stopped_too |= signals_stop_self(stopped_by);
		return true;
	}
	if (!child_is_of_the_run(a, pid)) {
		if (waitpid(pid, &status, 0) == pid)
			attendance_note_end(a, pid, status);
		return true;
	}
	if (reaped_wait(&a->reaped, pid))
		return false;
	a->has_unsent = true;
	attendance_send_reaped(a);
	if (pid == a->command)
		attendance_note_end(a, pid, a->reaped.status);
	return true;
}

/* Handles stops and continues of the command, and exits of children. */
static void attendance_reap(struct attendance *a)
{
	while (attendance_reap_one(a))
		;
	if (a->has_unsent)
		attendance_send_reaped(a);
}

/*
 * Returns true if the command has changed its state since its last observed stop: a shell continues
 * the whole job, and a key may have stopped it again before this process runs.
 */
static bool command_has_moved(const struct attendance *a)
{
	siginfo_t news = { 0 };

	return waitid(P_PID, (id_t)a->command, &news,
		      WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) ||
	       news.si_pid;
}

static void attendance_detach(struct attendance *a)
{
	a->is_detached = true;
	role_send(&a->roles->collector, CONTROL_STOP, 0, 0);
}

/* After the first request bpfmon only waits for descendants of the command, or the roles. */
static void attendance_handle_request(struct attendance *a, const struct signalfd_siginfo *si)
{
	if (!end_request_count(&a->requests, si))
		return;
	if (!a->is_detached)
		attendance_detach(a);
	if (a->requests.nr == REQUESTS_THAT_END - 1)
		roles_report_awaited(a->roles);
}

static void attendance_handle_signal(struct attendance *a, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;

	if (sig == SIGCHLD)
		return;
	/* a run that is being ended is not left: a repeated request only cuts the grace short */
	if (end_request_matches(si) && limit_end_skip_grace(&a->limits))
		return;
	if ((a->command_ended || a->is_detached) && end_request_matches(si)) {
		attendance_handle_request(a, si);
		return;
	}
	if (a->command_ended)
		return;
	if (sig == SIGCONT && a->has_stopped_too) {
		a->has_stopped_too = false;
		if (!command_has_moved(a))
			kill(a->command, SIGCONT);
		return;
	}
	if (!signals_is_to_forward(si, a->command))
		return;
	if (sig == SIGTERM && !end_request_count(&a->requests, si))
		return;
	if (sig == SIGTERM && a->requests.nr > 1) {
		attendance_detach(a);
		return;
	}
	kill(a->command, sig);
}

/* While the command runs, an agent may be silent. */
static bool agent_is_awaited(const struct attendance *a)
{
	return a->roles->collector.is_remote && (a->command_ended || a->is_detached);
}

static bool attendance_is_over(const struct attendance *a)
{
	if (a->requests.nr >= REQUESTS_THAT_END || a->roles->agent.hangs)
		return true;
	return (a->command_ended || a->is_detached) && !a->roles->collector.pid &&
	       !a->roles->recorder.pid && last_summary_is_shown(&a->roles->summary);
}

/*
 * Forwards signals to the command, and stops and continues with it, until it has ended or is left
 * running and the roles have ended. A third request ends all in any case.
 */
static void attendance_run(struct attendance *a)
{
	const int wait_ms = signals_read_all(a->signal_fd);
	struct signalfd_siginfo si;

	a->limits.command = a->command;
	a->limits.collector_fd = a->roles->collector.control_fd;
	if (a->roles->wants_reaped)
		a->limits.spared = &a->roles->own;
	a->roles->summary.limits = &a->limits;

	while (!attendance_is_over(a)) {
		last_summary_wait(
			&a->roles->summary, a->signal_fd, a->roles->line.fd,
			limit_end_wait(&a->limits, agent_is_awaited(a) ? AGENT_LOOK_MS : wait_ms));
		/* first: stopping this process removes an earlier SIGCONT from the queue */
		attendance_reap(a);
		while (read(a->signal_fd, &si, sizeof(si)) == sizeof(si)) {
			attendance_handle_signal(a, &si);
			attendance_reap(a);
		}
		/* the collector may have sent it just before its end */
		last_summary_advance(&a->roles->summary);
		status_line_advance(&a->roles->line);
		if (agent_is_awaited(a))
			roles_watch_agent(a->roles);
		limit_end_advance(&a->limits, a->roles->collector.pid);
		if (a->limits.has_given_up && !a->is_detached) {
			attendance_detach(a);
		}
	}
	roles_stop(a->roles, ROLES_GRACE_MS);
	limit_end_finish(&a->limits);
	a->roles->summary.limits = NULL;
	limit_end_done(&a->limits);
	attendance_reap(a);
}

struct launcher {
	struct launch_options *options;
	struct spawn command;
	struct own_cgroup cgroup; /* of the command, if own_cgroup */
	struct intake_sockets intake;
	struct roles roles;
	struct description description;
	struct attendance attendance;
	int signal_fd;
	int cancelled_by; /* signal that came before the command ran; 0: none */
};

/*
 * Occupies descriptors 0 to 2, which the command would take for its own if bpfmon's were among
 * them.
 */
static int standard_descriptors_occupy(bool *stdout_is_closed)
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
		log_warn("second signal received; leaving the command (process %d) running",
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
		log_error("out of memory; the command was not run");
		return EXIT_BPFMON;
	}
	if (roles_wait_until_ready(&l->roles, l->command.pid, l->signal_fd, &l->cancelled_by)) {
		if (!l->roles.is_unmeasured)
			return EXIT_BPFMON;
		description_cancel(&l->description);
		roles_stop(&l->roles, ROLES_UNNEEDED_GRACE_MS);
	}
	if (l->options->notes_root)
		log_note("the command runs as root; add --user to run it as %s, or "
			 "--user=root to omit this line",
			 l->options->caller->name);
	log_info("started the command as process %d%s%s", l->command.pid,
		 l->options->run_as ? ", as user " : "",
		 l->options->run_as ? l->options->run_as->name : "");
	now = clock_ns(CLOCK_MONOTONIC);
	spawn_go(&l->command);
	command_wait_for_exec(&l->command, l->signal_fd);
	err = spawn_result(&l->command, &step);
	if (!err && !l->roles.is_unmeasured) {
		description_send(&l->description, &l->roles, l->options->run);
		role_send(&l->roles.collector, CONTROL_START, 0, now);
	}
	if (!err)
		return 0;
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

	/* if SIGCHLD is ignored, the kernel reaps children before their status is read */
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
 * Ends everything if there is no run. The command's process is reaped last: as the first process of
 * a PID namespace it cannot end before all others there have been reaped.
 */
static void launcher_cancel(struct launcher *l)
{
	spawn_cancel(&l->command);
	description_cancel(&l->description);
	roles_stop(&l->roles, ROLES_UNNEEDED_GRACE_MS);
	spawn_wait(&l->command);
}

/* Does all that precedes the command. Returns 0 or the exit status. */
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
		log_error("cannot start the collector and the recorder: %s", strerror(-err));
	if (!err && l->options->agent_fd >= 0)
		spawn_wait_until_prepared(&l->command);
	if (!err) {
		/* the reader first: the collector then knows what the launcher forks */
		description_begin(&l->description, l->options);
		err = job_request_send(&l->roles, l->options, l->command.pid);
	}
	if (err) {
		code = EXIT_BPFMON;
	} else {
		description_fill(&l->description, l->options);
		launcher_drop_rights();
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
	int err = standard_descriptors_occupy(&o->recorder.stdout_is_closed), code;

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

int argv_execute(char **command)
{
	int err;

	stack_restore_limit();
	execvp(command[0], command);
	err = errno;
	log_error("cannot execute '%s': %s", command[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
