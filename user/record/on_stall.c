// SPDX-License-Identifier: BSD-2-Clause
#include "record/on_stall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define REASON_BYTES 1024

/* As for any command: of the recorder it has the rights, not what that ignores or blocks. */
static void command_become(const char *command, const char *reason)
{
	sigset_t none;

	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setenv("BPFMON_STALL_REASON", reason, 1);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static void command_run(const char *command, const char *reason)
{
	pid_t pid = fork();

	if (!pid)
		command_become(command, reason);
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

static void stalls_wait(int fd, const char *command)
{
	char reason[REASON_BYTES];
	ssize_t n;

	descriptors_reduce(fd);
	while ((n = recv(fd, reason, sizeof(reason) - 1, 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		reason[n - 1] = '\0'; /* a blank, so that no reason is no message of 0 bytes */
		command_run(command, reason);
	}
	_exit(0);
}

int on_stall_start(const char *command)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		stalls_wait(fds[1], command);
	}
	close(fds[1]);
	if (pid > 0)
		return fds[0];
	close(fds[0]);
	return -errno;
}

void on_stall_execute(int fd, const char *reason)
{
	char text[REASON_BYTES];
	size_t n = strnlen(reason, sizeof(text) - 1);

	memcpy(text, reason, n);
	text[n] = ' ';
	send(fd, text, n + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}
