// SPDX-License-Identifier: BSD-2-Clause
#include "base/reopen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PTY_MASTER_MAJOR 2 /* of BSD */
#define TTYAUX_MAJOR 5
#define PTMX_MINOR 2 /* to open it makes a new terminal */

static bool reopen_is_possible(int fd, const struct stat *st)
{
	dev_t d = st->st_rdev;

	if (S_ISFIFO(st->st_mode))
		return true;
	if (!S_ISCHR(st->st_mode) || !isatty(fd))
		return false;
	return major(d) != PTY_MASTER_MAJOR &&
	       !(major(d) == TTYAUX_MAJOR && minor(d) == PTMX_MINOR);
}

static bool reopen_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int reopen_for_writing(int fd)
{
	int flags = fcntl(fd, F_GETFL), fresh, err = 0;
	struct stat st, now;
	char path[64];

	if (flags < 0 || fstat(fd, &st))
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY || !reopen_is_possible(fd, &st))
		return -ENOTTY;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fresh = open(path, (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fresh < 0)
		return -errno;
	if (fstat(fresh, &now) || !reopen_is_same_file(&st, &now))
		err = -ENOENT;
	else if (dup3(fresh, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		err = -errno;
	close(fresh);
	return err;
}
