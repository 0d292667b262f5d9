// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/stop.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/patience.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_MS 2
#define SUMMARY_MS 500 /* for the collector to send it in place of the recorder */
#define DEATH_MS 1000  /* for the kernel; a process that it cannot end is left to it */

static bool role_is_there(const struct role *r)
{
	return r->pid > 0;
}

void roles_say_awaited(const struct roles *roles)
{
	const char *rest = "; a third signal ends bpfmon without it";

	if (role_is_there(&roles->recorder))
		log_warn("still waiting for the recorder (process %d) to write its outputs%s",
			 roles->recorder.pid, rest);
	else if (role_is_there(&roles->collector))
		log_warn("still waiting for the collector (process %d) to close the run%s",
			 roles->collector.pid, rest);
}

static void role_let_go(struct role *r)
{
	if (r->control_fd >= 0)
		close(r->control_fd);
	r->control_fd = -1;
}

/* It sees the end of its launcher, but can still send the summary. */
static void collector_let_go(struct roles *roles)
{
	if (roles->collector.control_fd >= 0)
		shutdown(roles->collector.control_fd, SHUT_WR);
}

static bool role_has_ended(struct role *r)
{
	if (role_is_there(r) && waitpid(r->pid, NULL, WNOHANG)) /* or it was waited for elsewhere */
		r->pid = 0;
	return !role_is_there(r);
}

static bool roles_wait_for_both(struct roles *roles, int ms)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)ms * NSEC_PER_MSEC;

	for (;;) {
		bool recorder = role_has_ended(&roles->recorder),
		     collector = role_has_ended(&roles->collector);

		last_summary_advance(&roles->summary);
		if (recorder && collector)
			return true;
		if (clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return false;
		poll(NULL, 0, STEP_MS);
	}
}

static void role_kill(const struct role *r, const char *loss)
{
	if (!role_is_there(r))
		return;
	log_warn("the %s (process %d) did not end and was killed: %s", r->name, r->pid, loss);
	kill(r->pid, SIGKILL);
}

static void roles_end_both(struct roles *roles, int grace_ms)
{
	if (roles_wait_for_both(roles, grace_ms))
		return;
	role_kill(&roles->recorder, "what it had not written yet is lost");
	if (roles_wait_for_both(roles, SUMMARY_MS))
		return;
	role_kill(&roles->collector, "the account is incomplete");
	roles_wait_for_both(roles, DEATH_MS);
}

void roles_stop(struct roles *roles, int grace_ms)
{
	if (roles->agent.hangs) /* for which the recorder waits, too */
		grace_ms += (int)(PATIENCE_WITH_COLLECTOR_NS / NSEC_PER_MSEC);
	status_line_release(&roles->line);
	collector_let_go(roles);
	role_let_go(&roles->recorder);
	roles_end_both(roles, grace_ms);
	last_summary_done(&roles->summary);
	role_let_go(&roles->collector);
}
