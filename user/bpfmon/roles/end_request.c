// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/end_request.h"

#include "base/clock.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define ECHO_NS (50 * NSEC_PER_MSEC)

static bool signal_is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

bool end_request_is_one(const struct signalfd_siginfo *si)
{
	switch (si->ssi_signo) {
	case SIGTERM:
		return true;
	case SIGHUP:
		return !signal_is_ignored(SIGHUP);
	case SIGINT:
	case SIGQUIT: /* what a person sends with kill(1) is meant */
		return si->ssi_code <= 0 || !signal_is_ignored((int)si->ssi_signo);
	default:
		return false;
	}
}

/* timeout(1) and others signal their child and at once the whole group: that is one request. */
static bool end_request_is_echo(const struct end_requests *r, const struct signalfd_siginfo *si,
				uint64_t now_ns)
{
	return si->ssi_code <= 0 && r->by == (pid_t)si->ssi_pid &&
	       r->signal == (int)si->ssi_signo && now_ns - r->at_ns < ECHO_NS;
}

bool end_request_count(struct end_requests *r, const struct signalfd_siginfo *si)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool is_new = !end_request_is_echo(r, si, now_ns);

	r->nr += is_new;
	r->signal = (int)si->ssi_signo;
	r->by = (pid_t)si->ssi_pid;
	r->at_ns = now_ns;
	return is_new;
}

int end_request_read(int signal_fd)
{
	struct signalfd_siginfo si;

	while (read(signal_fd, &si, sizeof(si)) == sizeof(si))
		if (end_request_is_one(&si))
			return (int)si.ssi_signo;
	return 0;
}
