// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/pager.h"

#include "base/user.h"
#include "text/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PAGER "less -FRX"
#define DEFAULT_ROWS 24 /* where the terminal does not say */
#define NOT_RUN 127     /* as the shell exits */

static int terminal_copy = -1; /* stdout's, while its output is collected */

/* NULL: none is wanted. */
static const char *pager_command(void)
{
	const char *command = getenv("BPFMON_PAGER"), *kind = getenv("TERM");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = DEFAULT_PAGER;
	return *command && strcmp(command, "cat") != 0 && kind && strcmp(kind, "dumb") != 0
		       ? command
		       : NULL;
}

bool pager_begin(void)
{
	int fd;

	if (terminal_copy >= 0 || !isatty(STDOUT_FILENO) || !pager_command())
		return false;
	fd = memfd_create("bpfmon-output", MFD_CLOEXEC);
	terminal_copy = fd < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (terminal_copy < 0 || fflush(stdout) || dup2(fd, STDOUT_FILENO) < 0) {
		if (terminal_copy >= 0)
			close(terminal_copy);
		terminal_copy = -1;
	}
	if (fd >= 0)
		close(fd);
	terminal_set_paged(terminal_copy);
	return terminal_copy >= 0;
}

/* Whether the collected output has more lines than the terminal. */
static bool output_is_long(int fd)
{
	struct winsize size = { 0 };
	char bytes[4096];
	off_t at = 0;
	ssize_t n;
	size_t lines = 0, rows;

	ioctl(terminal_copy, TIOCGWINSZ, &size);
	rows = size.ws_row ? size.ws_row : DEFAULT_ROWS;
	while (lines < rows && (n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			lines += bytes[i] == '\n';
		at += n;
	}
	return lines >= rows;
}

static void output_copy(int fd)
{
	char bytes[4096];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		ssize_t written = write(STDOUT_FILENO, bytes, (size_t)n);

		if (written < 0 && errno != EINTR)
			return;
		at += written > 0 ? written : 0;
	}
}

/*
 * The variables are those of the user who called bpfmon, and so are the rights of what they name:
 * under sudo it is not run as root.
 */
static void pager_execute(int fd)
{
	static struct user caller;
	bool was_sudo;

	user_find_caller(&caller, &was_sudo);
	if (was_sudo && !geteuid() && user_become(&caller))
		return;
	if (user_borrows_rights() && privilege_return())
		return;
	if (dup2(fd, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
		return;
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", pager_command(), (char *)NULL);
}

/* False: it could not be run, and has shown nothing. */
static bool pager_run(int fd)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	int status = 0;
	pid_t child = fork();

	if (!child) {
		pager_execute(fd);
		_exit(NOT_RUN);
	}
	if (child < 0)
		return false;
	sigaction(SIGINT, &ignore, &interrupt); /* the pager's to handle */
	sigaction(SIGQUIT, &ignore, &quit);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return !WIFEXITED(status) || WEXITSTATUS(status) != NOT_RUN;
}

void pager_end(void)
{
	int fd;

	fflush(stdout); /* its errors stay for ferror() */
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(terminal_copy, STDOUT_FILENO);
	if (fd < 0 || !output_is_long(fd) || !pager_run(fd))
		output_copy(fd);
	close(terminal_copy);
	terminal_copy = -1;
	terminal_set_paged(-1);
	if (fd >= 0)
		close(fd);
}
