// SPDX-License-Identifier: BSD-2-Clause
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
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

/* @target and a few letters more, in a name that is not too long for them. */
static char *temporary_name(const char *target)
{
	static const char letters[] = ".XXXXXX";
	const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
	size_t kept = strnlen(name, NAME_MAX - strlen(letters));
	char *path;

	if (asprintf(&path, "%.*s%s", (int)(name - target + (ptrdiff_t)kept), target, letters) < 0)
		return NULL;
	return path;
}

static int open_temporary(struct output *o)
{
	mode_t mask = umask(0);

	umask(mask);
	o->target = o->is_new ? strdup(o->path) : realpath(o->path, NULL);
	if (!o->target)
		return -errno;
	o->temporary = temporary_name(o->target);
	if (!o->temporary)
		return -ENOMEM;
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0) {
		int err = -errno;

		free(o->temporary);
		free(o->target);
		o->temporary = o->target = NULL;
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

/* Where nothing is yet. -EEXIST: there is something. */
static int create(struct output *o, bool is_whole)
{
	struct stat st;
	int err = 0;

	if (is_whole && !lstat(o->path, &st))
		return -EEXIST;
	if (is_whole) {
		o->is_new = true;
		err = open_temporary(o);
	} else {
		o->fd = open(o->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
		if (o->fd < 0)
			return -errno;
		mark(o->fd, F_WRLCK);
	}
	o->is_ours = o->is_regular = !err;
	return err;
}

/*
 * A device or a pipe. A role must not block in open(2); a subcommand, which writes its output when
 * that is whole, may: any signal ends it.
 */
static int open_special(struct output *o, const struct stat *st, bool is_whole)
{
	int nonblock = is_whole ? 0 : O_NONBLOCK, err;

	o->fd = open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | nonblock);
	if (o->fd >= 0)
		return 0;
	err = -errno;
	return err == -ENXIO && S_ISFIFO(st->st_mode) ? -EAGAIN : err;
}

static int open_path(struct output *o, const char *path, bool force, bool is_whole)
{
	struct stat st;
	int err;

	*o = (struct output){ .fd = -1, .old_fd = -1, .path = path };
	if (!strcmp(path, "-")) {
		output_open_fd(o, STDOUT_FILENO);
		return fcntl(o->fd, F_GETFL) < 0 ? -errno : 0;
	}
	err = create(o, is_whole);
	if (err != -EEXIST)
		return err;
	/* devices and pipes are written to; a link is what it points to, or nothing */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return open_special(o, &st, is_whole);
	return replace(o, force);
}

int output_open(struct output *o, const char *path, bool force)
{
	return open_path(o, path, force, false);
}

int output_open_whole(struct output *o, const char *path, bool force)
{
	return open_path(o, path, force, true);
}

void output_open_fd(struct output *o, int fd)
{
	*o = (struct output){ .fd = fd, .old_fd = -1, .path = "-" };
}

/* The name is taken by nobody, or not by us; where the file system cannot say so in one step, two.
 */
static int take_new_name(const char *temporary, const char *target)
{
	int fd, err;

	if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	close(fd);
	if (!rename(temporary, target))
		return 0;
	err = -errno;
	unlink(target);
	return err;
}

int output_commit(struct output *o)
{
	int err = 0;

	o->is_ours = false;
	if (!o->temporary)
		return 0;
	if (o->is_new)
		err = take_new_name(o->temporary, o->target);
	else if (rename(o->temporary, o->target))
		err = -errno;
	if (err) {
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
	err = patience_write(o->patience, o->fd, o->buffer, n, &done);
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
