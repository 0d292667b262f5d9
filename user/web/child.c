// SPDX-License-Identifier: BSD-2-Clause
#include "web/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENCE_MS 60000
#define EXIT_NO_PROGRAM 127

/* Between fork and exec in a program with threads: only calls that are safe there. */
static void child_become(const char *program, char *const *words, int out, bool as_file,
			 bool with_errors)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(as_file ? null : out, STDOUT_FILENO);
	if (as_file && out == 3)
		fcntl(out, F_SETFD, 0);
	else if (as_file)
		dup2(out, 3);
	if (with_errors)
		dup2(out, STDERR_FILENO);
	execv(program, words);
	_exit(EXIT_NO_PROGRAM);
}

int child_start(struct child *c, const char *program, char *const *words, bool as_file,
		bool with_errors)
{
	int ends[2], err;

	c->has_ended = false;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		child_become(program, words, ends[1], as_file, with_errors);
	err = c->pid < 0 ? -errno : 0;
	close(ends[1]);
	c->fd = ends[0];
	if (err)
		close(ends[0]);
	return err;
}

ssize_t child_read(struct child *c, void *out, size_t size)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	ssize_t n;
	int ready;

	do
		ready = poll(&p, 1, SILENCE_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		return -ETIME;
	n = read(c->fd, out, size);
	c->has_ended = !n;
	return n < 0 ? -errno : n;
}

int child_end(struct child *c)
{
	int status = 0;

	close(c->fd);
	if (!c->has_ended)
		kill(c->pid, SIGKILL); /* its output is not read any more */
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
