// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/pusher.h"

#include "base/log.h"
#include "base/loop.h"
#include "base/stack.h"
#include "base/user.h"
#include "bpfmon/libexec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define END_FD 3 /* of the child: it only holds it */

/* A session of its own: what the terminal sends to the command is not for this process. */
static void pusher_become(const char *path, const char *url, int lines_fd, int end_fd)
{
	char patience[16];
	int null;

	snprintf(patience, sizeof(patience), "%d", PUSHER_PATIENCE_S);
	setsid();
	lines_fd = fcntl(lines_fd, F_DUPFD, END_FD + 1);
	end_fd = fcntl(end_fd, F_DUPFD, END_FD + 1);
	null = open("/dev/null", O_WRONLY); /* what reads the command's output does not wait */
	if (dup2(lines_fd, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(end_fd, END_FD) < 0)
		_exit(127);
	syscall(SYS_close_range, END_FD + 1, ~0U, 0);
	signals_reset();
	privilege_drop_all();
	stack_restore_limit();
	/* not as an argument, which everybody can read: it may have a password */
	setenv("BPFMON_URL", url, 1);
	if (!geteuid() && user_is_under_sudo()) { /* these are the caller's, the rights are not */
		unsetenv("BPFMON_TOKEN_FILE");
		unsetenv("BPFMON_CA_FILE");
	}
	execl(path, "bpfmon-push", "--lines", "--patience", patience, (char *)NULL);
	_exit(127);
}

int pusher_start(struct pusher *p, const char *url)
{
	char path[PATH_MAX];
	int lines[2], end[2];
	pid_t pid;
	int err = libexec_find("bpfmon-push", path);

	*p = (struct pusher){ -1, -1 };
	if (err)
		return err;
	if (pipe2(lines, O_CLOEXEC))
		return -errno;
	if (pipe2(end, O_CLOEXEC)) {
		err = -errno;
		close(lines[0]);
		close(lines[1]);
		return err;
	}
	pid = fork();
	if (!pid)
		pusher_become(path, url, lines[0], end[1]);
	close(lines[0]);
	close(end[1]);
	fcntl(lines[1], F_SETFL, O_NONBLOCK);
	*p = (struct pusher){ lines[1], end[0] };
	if (pid > 0)
		return 0;
	err = -errno;
	log_error("cannot start bpfmon-push: %s", strerror(-err));
	close(p->lines_fd);
	close(p->end_fd);
	*p = (struct pusher){ -1, -1 };
	return err;
}

void pusher_end(struct pusher *p)
{
	struct pollfd end = { .fd = p->end_fd, .events = POLLIN };

	if (p->lines_fd >= 0)
		close(p->lines_fd);
	if (p->end_fd < 0)
		return;
	poll(&end, 1, (PUSHER_PATIENCE_S + 2) * 1000);
	close(p->end_fd);
	*p = (struct pusher){ -1, -1 };
}
