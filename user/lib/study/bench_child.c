// SPDX-License-Identifier: BSD-2-Clause
#include "study/bench_child.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "study/words.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void children_open(struct children *c)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction child = { .sa_handler = SIG_DFL }, action;

	c->end_signal = 0;
	sigaction(SIGCHLD, &child, NULL); /* ignored, no status of a child would be kept */
	sigemptyset(&c->waited);
	sigaddset(&c->waited, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&c->waited, ends[i]);
	sigprocmask(SIG_BLOCK, &c->waited, &c->before);
}

void children_leave(const struct children *c)
{
	sigprocmask(SIG_SETMASK, &c->before, NULL);
}

bool children_are_to_end(struct children *c)
{
	siginfo_t si;

	while (sigtimedwait(&c->waited, &si, &(struct timespec){ 0 }) > 0)
		if (si.si_signo != SIGCHLD)
			c->end_signal = si.si_signo;
	return c->end_signal;
}

static void child_pass_on(struct children *c, pid_t pid, const siginfo_t *si)
{
	if (si->si_signo == SIGCHLD)
		return;
	c->end_signal = si->si_signo;
	if (si->si_code <= 0)
		kill(pid, si->si_signo);
}

int child_wait(struct children *c, pid_t pid)
{
	int status = 0;
	siginfo_t si;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			break;
		if (sigwaitinfo(&c->waited, &si) > 0)
			child_pass_on(c, pid, &si);
	}
	/* of the terminal, which ended the child: it may have come later than the child's end */
	children_are_to_end(c);
	return status;
}

static void child_become_command(const struct children *c, const char *shell, const char *command,
				 int stdout_fd)
{
	char **argv = shell ? words_by_shell(shell, command) : words_split(command);
	int err;

	children_leave(c);
	if (argv && dup2(stdout_fd, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	err = errno;
	log_error("cannot execute '%s': %s", argv ? argv[0] : command, strerror(err));
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

int child_execute(struct children *c, const char *shell, const char *command, int stdout_fd)
{
	pid_t pid = fork();

	if (!pid)
		child_become_command(c, shell, command, stdout_fd);
	return pid < 0 ? -errno : child_wait(c, pid);
}
