// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/launch_signals.h"

#include "base/procstat.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define WITHOUT_NEWS_MS 100

int signals_open(sigset_t *old)
{
	/* faults of this process, which must end it */
	static const int ours[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	static const int requests[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t all, first;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		sigdelset(&all, ours[i]);
	sigprocmask(SIG_SETMASK, &all, old);
	sigemptyset(&first);
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		sigaddset(&first, requests[i]);
	return signalfd(-1, &first, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals_read_all(int fd)
{
	sigset_t all;

	sigfillset(&all);
	return signalfd(fd, &all, 0) < 0 ? WITHOUT_NEWS_MS : -1;
}

bool signals_is_to_forward(const struct signalfd_siginfo *si, pid_t command)
{
	/* the kernel sends a hangup to the session leader only */
	if (si->ssi_code > 0 && si->ssi_signo == SIGHUP && getsid(0) == getpid())
		return true;
	if (si->ssi_code > 0) /* from the kernel: terminal, timer, child */
		return false;
	return !process_descends_from((pid_t)si->ssi_pid, command);
}

static bool process_is_shell_job(void)
{
	return getsid(0) != getpgrp() && tcgetpgrp(STDERR_FILENO) == getpgrp();
}

bool signals_stop_self(int sig)
{
	/* the sender of a plain SIGSTOP may continue the command only */
	if (sig == SIGSTOP && !process_is_shell_job())
		return false;
	raise(SIGSTOP);
	return true;
}

bool signals_have_terminal(void)
{
	pid_t front = tcgetpgrp(STDERR_FILENO);

	return front > 0 && (front == getpgrp() || process_descends_from(front, getpid()));
}

void signals_die(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(sig);
}
