// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/event_command.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT_BYTES 1024

/* As for any command: of the recorder it has the rights, not what that ignores or blocks. */
static void command_become(const struct event_command *c, const char *text)
{
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv(c->variable, text, 1);
	execl("/bin/sh", "sh", "-c", c->command, (char *)NULL);
	_exit(127);
}

static void command_run(const struct event_command *c, const char *text)
{
	pid_t pid = fork();

	if (!pid)
		command_become(c, text);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Keeps nothing open by which others would wait for it: only where it writes. */
static void descriptors_reduce(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (fd > STDERR_FILENO + 1)
		syscall(SYS_close_range, STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0);
}

static void events_wait(int fd, const struct event_command *c)
{
	char text[TEXT_BYTES];
	ssize_t n;

	descriptors_reduce(fd);
	while ((n = recv(fd, text, sizeof(text) - 1, 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		text[n - 1] = '\0'; /* a blank, so that no text is no message of 0 bytes */
		command_run(c, text);
	}
	_exit(0);
}

static int event_command_fork(const struct event_command *c)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		events_wait(fds[1], c);
	}
	close(fds[1]);
	if (pid > 0)
		return fds[0];
	close(fds[0]);
	return -errno;
}

void event_command_start(struct event_command *c)
{
	int fd = c->command ? event_command_fork(c) : -1;

	c->fd = fd < 0 ? -1 : fd;
	if (c->command && fd < 0)
		log_warn("--%s: nothing will be executed: %s", c->option, strerror(-fd));
}

void event_command_execute(const struct event_command *c, const char *text)
{
	char message[TEXT_BYTES];
	size_t n = strnlen(text, sizeof(message) - 1);

	if (!c->command || c->fd < 0)
		return;
	memcpy(message, text, n);
	message[n] = ' ';
	send(c->fd, message, n + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}
