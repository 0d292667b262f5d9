// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/attach.h"

#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/roles/job_request.h"
#include "bpfmon/roles/roles.h"
#include "bpfmon/roles/limit_end.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/roles/launch_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void attachment_reap(struct roles *roles)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		roles_note_end(roles, pid, status);
}

static void attachment_handle_request(struct roles *roles, struct end_requests *r,
				      const struct signalfd_siginfo *si)
{
	if (!end_request_count(r, si))
		return;
	if (r->nr == 1)
		role_send(&roles->collector, CONTROL_STOP, 0, 0);
	else if (r->nr == REQUESTS_THAT_END - 1)
		roles_say_awaited(roles);
}

static bool attachment_is_over(const struct roles *roles, const struct end_requests *r)
{
	if (r->nr >= REQUESTS_THAT_END || roles->agent.hangs)
		return true;
	return !roles->collector.pid && !roles->recorder.pid &&
	       last_summary_is_shown(&roles->summary);
}

static void attachment_attend(struct roles *roles, struct end_requests *r, int signal_fd)
{
	const int of_signals_ms = signals_read_all(signal_fd);
	const int wait_ms = roles->collector.is_remote ? AGENT_LOOK_MS : of_signals_ms;
	struct signalfd_siginfo si;

	while (!attachment_is_over(roles, r)) {
		last_summary_wait(&roles->summary, signal_fd, roles->line.fd, wait_ms);
		while (read(signal_fd, &si, sizeof(si)) == sizeof(si))
			if (end_request_is_one(&si))
				attachment_handle_request(roles, r, &si);
		attachment_reap(roles);
		/* the collector may have sent it as its last act */
		last_summary_advance(&roles->summary);
		status_line_advance(&roles->line);
		roles_watch_agent(roles);
	}
	roles_stop(roles, ROLES_GRACE_MS);
}

/* Until they may begin. 0, or a negative errno; @sig: ended by that signal, or 0. */
static int attachment_start(struct roles *roles, struct launch_options *o, int *signal_fd, int *sig)
{
	struct spawn none = { .go_fd = -1, .status_fd = -1 };
	struct description description;
	sigset_t mask;
	int err;

	*signal_fd = signals_open(&mask);
	streams_unblock();
	err = *signal_fd < 0 ? -errno : roles_fork(roles, o, &none, *signal_fd, &mask);
	if (err) {
		log_error("cannot start collector and recorder: %s", strerror(-err));
		return err;
	}
	err = job_request_send(roles, o, 0);
	if (err)
		return err;
	description_begin(&description, o);
	description_fill(&description, o);
	rights_of_launcher();
	err = memory_has_failed() ? -ENOMEM : roles_wait_until_ready(roles, 0, *signal_fd, sig);
	if (err)
		description_cancel(&description);
	else
		description_send(&description, roles, o->run);
	return err;
}

int attachment_run(struct launch_options *o)
{
	struct sigaction children = { .sa_handler = SIG_DFL };
	struct end_requests requests = { 0 };
	struct roles roles = { .collector.control_fd = -1, .recorder.control_fd = -1 };
	struct intake_sockets intake; /* only that for those who look at the run */
	int signal_fd, err, sig = 0;

	sigaction(SIGCHLD, &children, NULL);
	err = intake_open(&intake, &(struct intake_options){ 0 }, o->run_as, o->agent_fd >= 0);
	if (err)
		return err;
	o->intake = &intake;
	err = attachment_start(&roles, o, &signal_fd, &sig);
	if (err) {
		roles_stop(&roles, ROLES_UNNEEDED_GRACE_MS);
	} else {
		role_send(&roles.collector, CONTROL_START, 0, 0);
		attachment_attend(&roles, &requests, signal_fd);
		sig = requests.nr >= REQUESTS_THAT_END ? requests.signal : 0;
		err = roles.agent.hangs ? -ETIMEDOUT : 0;
	}
	intake_remove(&intake);
	if (sig)
		signals_die(sig);
	return err;
}
