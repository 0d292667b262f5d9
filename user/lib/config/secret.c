// SPDX-License-Identifier: BSD-2-Clause
#include "config/secret.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is wrong with the file; NULL: nothing. */
static const char *fault_of_secret(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is no regular file: name one";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it is owned by another user: chown root";
	if (st->st_mode & S_IRWXO)
		return "others may read or change it: chmod o=";
	if (st->st_mode & S_IWGRP)
		return "its group may change it: chmod g-w";
	return NULL;
}

int secret_open(const char *path, char *why, size_t size)
{
	/* O_NONBLOCK: a FIFO would wait for its writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	const char *fault;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		snprintf(why, size, "cannot open %s: %s", path, strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	fault = fault_of_secret(&st);
	if (!fault)
		return fd;
	close(fd);
	snprintf(why, size, "%s is not used as a secret: %s", path, fault);
	return -EPERM;
}

int secret_read(const char *path, char *out, size_t room, char *why, size_t size)
{
	int fd = secret_open(path, why, size);
	size_t length;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = bytes_read(fd, out, room);
	close(fd);
	if (n < 0) {
		snprintf(why, size, "cannot read %s: %s", path, strerror((int)-n));
		return (int)n;
	}
	for (length = 0; length < (size_t)n && out[length] != '\n';)
		length++;
	if (length && length < (size_t)n && out[length - 1] == '\r')
		length--;
	if (!length || length >= room || memchr(out, '\0', length)) {
		explicit_bzero(out, room);
		snprintf(why, size, "the first line of %s is not a secret of 1 to %zu characters",
			 path, room - 1);
		return -EINVAL;
	}
	explicit_bzero(out + length, room - length);
	return 0;
}
