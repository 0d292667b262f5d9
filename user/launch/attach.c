// SPDX-License-Identifier: BSD-2-Clause
#include "launch/attach.h"

#include "base/control.h"
#include "base/log.h"
#include "launch/describe.h"
#include "launch/rights.h"
#include "launch/roles.h"
#include "launch/signals.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void reap(struct roles *roles)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == roles->collector.pid)
			role_ended(&roles->collector, status);
		else if (pid == roles->recorder.pid)
			role_ended(&roles->recorder, status);
	}
}

static bool asks_for_the_end(const struct signalfd_siginfo *si)
{
	return si->ssi_signo == SIGINT || si->ssi_signo == SIGTERM || si->ssi_signo == SIGHUP ||
	       si->ssi_signo == SIGQUIT;
}

static void attend(struct roles *roles, int signal_fd)
{
	struct pollfd p = { .fd = signal_fd, .events = POLLIN };
	struct signalfd_siginfo si;

	while (roles->collector.pid || roles->recorder.pid) {
		int n = poll(&p, 1, -1);

		while (n > 0 && read(signal_fd, &si, sizeof(si)) == sizeof(si))
			if (asks_for_the_end(&si))
				control_send(roles->collector.control_fd, CONTROL_STOP, 0, 0, NULL);
		reap(roles);
	}
}

int attach(struct launch_options *o)
{
	struct sigaction children = { .sa_handler = SIG_DFL };
	struct spawn nobody = { .go_fd = -1, .status_fd = -1 };
	struct description description;
	struct roles roles = { 0 };
	sigset_t mask;
	int signal_fd, err;

	sigaction(SIGCHLD, &children, NULL);
	describe_begin(&description, o);
	signal_fd = signals_open(&mask);
	err = signal_fd < 0 ? -errno : roles_fork(&roles, o, &nobody, signal_fd, &mask);
	if (err) {
		log_error("cannot start collector and recorder: %s", strerror(-err));
		return err;
	}
	describe(&description, o);
	rights_of_launcher(false);
	err = role_wait_until_ready(&roles.recorder);
	if (!err)
		err = role_wait_until_ready(&roles.collector);
	if (err) {
		role_reap(&roles.collector);
		role_reap(&roles.recorder);
		return err;
	}
	describe_end(&description);
	control_send(roles.collector.control_fd, CONTROL_START, 0, 0, NULL);
	attend(&roles, signal_fd);
	return 0;
}
