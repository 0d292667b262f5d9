// SPDX-License-Identifier: BSD-2-Clause
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tells others that we write the file, until @fd is closed; where the file system knows locks. */
static void mark(int fd, short lock)
{
	struct flock all = { .l_type = lock, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &all);
}

static bool is_marked(int fd)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_OFD_GETLK, &all) && all.l_type != F_UNLCK;
}

static void close_old(struct output *o)
{
	if (o->old_fd >= 0)
		close(o->old_fd);
	o->old_fd = -1;
}

static int open_temporary(struct output *o)
{
	mode_t mask = umask(0);

	umask(mask);
	o->target = realpath(o->path, NULL);
	if (!o->target)
		return -errno;
	if (asprintf(&o->temporary, "%s.XXXXXX", o->target) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0) {
		int err = -errno;

		free(o->temporary);
		o->temporary = NULL;
		return err;
	}
	fchmod(o->fd, 0666 & ~mask);
	mark(o->fd, F_WRLCK);
	return 0;
}

/* Marks the old file, too: others are to find it before the new one has its name. */
static int replace(struct output *o, bool force)
{
	int err;

	o->old_fd = open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (is_marked(o->old_fd)) {
		err = -EALREADY;
	} else if (!force) {
		err = -EEXIST;
	} else {
		o->is_ours = o->is_regular = true;
		mark(o->old_fd, F_RDLCK);
		err = open_temporary(o);
	}
	if (err)
		close_old(o);
	return err;
}

int output_open(struct output *o, const char *path, bool force)
{
	struct stat st;

	*o = (struct output){ .fd = -1, .old_fd = -1, .path = path };
	if (!strcmp(path, "-")) {
		output_open_fd(o, STDOUT_FILENO);
		return fcntl(o->fd, F_GETFL) < 0 ? -errno : 0;
	}
	o->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
	if (o->fd >= 0) {
		o->is_ours = o->is_regular = true;
		mark(o->fd, F_WRLCK);
		return 0;
	}
	if (errno != EEXIST)
		return -errno;
	/* devices and pipes are written to; a link is what it points to, or nothing */
	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return o->fd < 0 ? -errno : 0;
	}
	return replace(o, force);
}

void output_open_fd(struct output *o, int fd)
{
	*o = (struct output){ .fd = fd, .old_fd = -1, .path = "-" };
}

int output_commit(struct output *o)
{
	int err = 0;

	o->is_ours = false;
	if (!o->temporary)
		return 0;
	if (rename(o->temporary, o->target)) {
		err = -errno;
		unlink(o->temporary);
		o->error = -err;
	}
	close_old(o);
	free(o->temporary);
	o->temporary = NULL;
	return err;
}

void output_put(struct output *o, const char *text, size_t length)
{
	if (o->error)
		return;
	if (o->used + length > o->room) {
		size_t room = (o->used + length) * 2;
		char *buffer = realloc(o->buffer, room);

		if (!buffer) { /* the first flush tells */
			o->is_short_of_memory = true;
			return;
		}
		o->buffer = buffer;
		o->room = room;
	}
	memcpy(o->buffer + o->used, text, length);
	o->used += length;
}

/* Writes @n bytes; how many were, in @done. */
static int write_all(int fd, const char *p, size_t n, size_t *done)
{
	for (*done = 0; *done < n;) {
		ssize_t w = write(fd, p + *done, n - *done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		*done += (size_t)w;
	}
	return 0;
}

int output_flush(struct output *o)
{
	size_t n = o->used, done;
	const char *end;
	int err;

	o->used = 0;
	if (!o->error && o->is_short_of_memory) {
		o->error = ENOMEM;
		return -ENOMEM;
	}
	if (o->error || !n)
		return 0;
	err = write_all(o->fd, o->buffer, n, &done);
	/* a disk that is full takes half a line: keep the whole ones */
	end = memrchr(o->buffer, '\n', done);
	o->whole += end ? end + 1 - o->buffer : 0;
	if (!err)
		return 0;
	o->error = -err;
	if (o->is_regular && ftruncate(o->fd, o->whole))
		return err;
	return err;
}

int output_close(struct output *o)
{
	int err = output_flush(o);

	if (o->fd > STDERR_FILENO && close(o->fd) && !err && !o->error)
		err = -errno;
	if (o->is_ours)
		unlink(o->temporary ? o->temporary : o->path);
	close_old(o);
	free(o->temporary);
	free(o->target);
	free(o->buffer);
	*o = (struct output){ .fd = -1, .old_fd = -1 };
	return err;
}
