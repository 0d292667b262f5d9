// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/attend.h"

#include "base/control.h"
#include "base/log.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/roles/stop.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Best effort but for the end of the command, which has all so far, too. */
static void attendance_tell_reaped(struct attendance *a)
{
	const struct role *collector = &a->roles->collector;
	char text[REAPED_BYTES];

	if (!collector->pid || !control_has_room(collector->control_fd))
		return;
	reaped_print(&a->reaped, text);
	if (!control_send(collector->control_fd, CONTROL_REAPED, 0, 0, text))
		a->has_untold = false;
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

/* What a zombie has used is read before it is waited for. */
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
		a->has_stopped_too |= signals_stop_too(stopped_by);
		return true;
	}
	if (!child_is_of_the_run(a, pid)) {
		if (waitpid(pid, &status, 0) == pid)
			attendance_note_end(a, pid, status);
		return true;
	}
	if (reaped_wait(&a->reaped, pid))
		return false;
	a->has_untold = true;
	attendance_tell_reaped(a);
	if (pid == a->command)
		attendance_note_end(a, pid, a->reaped.status);
	return true;
}

/* The command has stopped or has been continued; or some child has ended. */
static void attendance_reap(struct attendance *a)
{
	while (attendance_reap_one(a))
		;
	if (a->has_untold)
		attendance_tell_reaped(a);
}

/* Since its last stop that was seen: a shell continues the whole job, and a key may have stopped it
 * again before this process runs. */
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

/* Only descendants of the command, or the roles, are waited for. */
static void attendance_handle_request(struct attendance *a, const struct signalfd_siginfo *si)
{
	if (!end_request_count(&a->requests, si))
		return;
	if (!a->is_detached)
		attendance_detach(a);
	if (a->requests.nr == REQUESTS_THAT_END - 1)
		roles_say_awaited(a->roles);
}

static void attendance_handle_signal(struct attendance *a, const struct signalfd_siginfo *si)
{
	int sig = (int)si->ssi_signo;

	if (sig == SIGCHLD)
		return;
	/* a run that is ended is not left: to ask again only cuts the grace short */
	if (end_request_is_one(si) && limit_end_hurry(&a->limits))
		return;
	if ((a->command_ended || a->is_detached) && end_request_is_one(si)) {
		attendance_handle_request(a, si);
		return;
	}
	if (a->command_ended)
		return;
	if (sig == SIGCONT && a->has_stopped_too) { /* for both */
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

/* While the command runs it may say nothing for as long as it likes. */
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

void attendance_run(struct attendance *a)
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
		/* first: stopping this process takes the SIGCONT before it off the queue */
		attendance_reap(a);
		while (read(a->signal_fd, &si, sizeof(si)) == sizeof(si)) {
			attendance_handle_signal(a, &si);
			attendance_reap(a);
		}
		/* the collector may have sent it as its last act */
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
