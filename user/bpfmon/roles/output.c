// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/output_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Closes the file that is replaced. */
static void output_close_old(struct output *o)
{
	if (o->old_fd >= 0)
		close(o->old_fd);
	o->old_fd = -1;
}

void output_drop(struct output *o)
{
	if (o->is_ours)
		unlinkat(o->at.folder, o->temporary ? o->temporary : o->at.name, 0);
	output_close_old(o);
	path_end_done(&o->at);
	free(o->temporary);
	free(o->buffer);
	*o = (struct output){ .fd = -1, .old_fd = -1, .path = o->path };
}

void output_open_fd(struct output *o, int fd)
{
	*o = (struct output){ .fd = fd, .old_fd = -1, .path = "-" };
}

/* Fails if the name is in use; in two steps where the file system cannot rename exclusively. */
static int output_take_new_name(int folder, const char *temporary, const char *name)
{
	int fd, err;

	if (!renameat2(folder, temporary, folder, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	close(fd);
	if (!renameat(folder, temporary, folder, name))
		return 0;
	err = -errno;
	unlinkat(folder, name, 0);
	return err;
}

int output_commit(struct output *o)
{
	const int folder = o->at.folder;
	int err = 0;

	o->is_ours = false;
	if (!o->temporary)
		return 0;
	if (o->is_new)
		err = output_take_new_name(folder, o->temporary, o->at.name);
	else if (renameat(folder, o->temporary, folder, o->at.name))
		err = -errno;
	if (err) {
		unlinkat(folder, o->temporary, 0);
		o->error = -err;
	}
	output_close_old(o);
	free(o->temporary);
	o->temporary = NULL;
	return err;
}

void output_remove_new(const struct output *o)
{
	if (o->is_new)
		unlinkat(o->at.folder, o->at.name, 0);
}

const char *output_error(const struct output *o, int err)
{
	return o->why ? o->why : strerror(-err);
}

void output_put(struct output *o, const char *text, size_t length)
{
	if (o->error)
		return;
	if (o->used + length > o->room) {
		size_t room = (o->used + length) * 2;
		char *buffer = realloc(o->buffer, room);

		if (!buffer) { /* the next flush reports it */
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
	/* a full disk may take half a line: keep the whole ones */
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
	output_drop(o);
	return err;
}
