// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/span_attend.h"

#include "base/cleanup.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/stack.h"
#include "options/common_options.h"
#include "bpfmon/roles/launch_signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int words_execute(char **command)
{
	int err;

	stack_restore_limit();
	execvp(command[0], command);
	err = errno;
	log_error("cannot execute '%s': %s", command[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* True once it has ended. */
static bool command_has_ended(pid_t command, int *status)
{
	while (waitpid(command, status, WNOHANG | WUNTRACED) == command) {
		if (!WIFSTOPPED(*status))
			return true;
		signals_stop_too(WSTOPSIG(*status));
	}
	return false;
}

static void signals_pass_on(int fd, pid_t command)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == sizeof(si))
		if (signals_is_to_forward(&si, command))
			kill(command, (int)si.ssi_signo);
}

int span_attend(char **command)
{
	sigset_t before;
	__cleanup(closep) int fd = signals_open(&before);
	struct pollfd news = { .fd = fd, .events = POLLIN };
	pid_t pid = fd < 0 ? -1 : fork();
	int status = 0, wait_ms;

	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(words_execute(command));
	}
	if (pid < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return -errno;
	}
	wait_ms = signals_read_all(fd);
	while (!command_has_ended(pid, &status)) {
		poll(&news, 1, wait_ms);
		signals_pass_on(fd, pid);
	}
	return status;
}

void span_end_as(int status)
{
	if (WIFSIGNALED(status))
		signals_die(WTERMSIG(status));
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}
