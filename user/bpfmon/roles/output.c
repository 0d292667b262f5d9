// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/output.h"

#include "base/memory.h"
#include "base/path_end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void output_close_old(struct output *o)
{
	if (o->old_fd >= 0)
		close(o->old_fd);
	o->old_fd = -1;
}

/* Frees and closes everything; removes a file that was never committed. */
static void output_drop(struct output *o)
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

/* Fails if the name is in use. Takes two steps where the file system cannot rename exclusively. */
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
		char *buffer = memory_realloc(o->buffer, room);

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
	/* a full disk may take part of a line: keep the whole ones */
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

#define NR_LETTERS 6
#define MOST_TRIES 100
#define FOREIGN                                                                                    \
	"it belongs to another user, in a world-writable directory; remove it, or name another "   \
	"file"

/* Marks the file as being written until @fd is closed, if the file system has locks. */
static void output_lock_file(int fd, short lock)
{
	struct flock all = { .l_type = lock, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &all);
}

static bool output_file_is_locked(int fd)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_OFD_GETLK, &all) && all.l_type != F_UNLCK;
}

/* Replaces the end of @name by random characters. */
static void name_set_letters(char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char *at = name + strlen(name) - NR_LETTERS;
	unsigned char chance[NR_LETTERS];

	if (getrandom(chance, sizeof(chance), 0) != sizeof(chance))
		memset(chance, getpid() & 0xff, sizeof(chance));
	for (size_t i = 0; i < NR_LETTERS; i++)
		at[i] = letters[chance[i] % (sizeof(letters) - 1)];
}

/* Creates a file beside the final one, with a name that is not too long. */
static int output_open_temporary(struct output *o)
{
	const size_t more = 1 + NR_LETTERS;
	int err = 0;

	if (memory_asprintf(&o->temporary, "%.*s.......", (int)(NAME_MAX - more), o->at.name) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	for (int i = 0; i < MOST_TRIES; i++) {
		name_set_letters(o->temporary);
		o->fd = openat(o->at.folder, o->temporary,
			       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (o->fd >= 0 || errno != EEXIST)
			break;
	}
	if (o->fd < 0) {
		err = -errno;
		free(o->temporary);
		o->temporary = NULL;
	}
	o->is_ours = o->is_regular = !err;
	return err;
}

/* Until then no other user may open the new file. */
static int output_copy_rights(struct output *o)
{
	int err = rights_copy(&o->at, o->fd);

	if (err && o->at.st.st_uid != geteuid())
		o->why = "it belongs to another user, and replacing it would change the owner; "
			 "remove it first, or name another file";
	else if (err)
		o->why = "replacing it would change its group, mode or ACL; remove it first, or "
			 "name another file";
	return err;
}

static int output_open_new(struct output *o)
{
	mode_t mask = umask(0);
	int err;

	umask(mask);
	o->is_new = true;
	err = output_open_temporary(o);
	if (err)
		return err;
	fchmod(o->fd, 0666 & ~mask);
	output_lock_file(o->fd, F_WRLCK);
	return 0;
}

static int output_open_replacement(struct output *o)
{
	int err;

	if (path_end_is_foreign(&o->at)) {
		o->why = FOREIGN;
		return -EPERM;
	}
	err = output_open_temporary(o);
	if (!err)
		err = output_copy_rights(o);
	if (!err)
		output_lock_file(o->fd, F_WRLCK);
	return err;
}

/*
 * Opens the file that was found. Returns -1 if it cannot be read, or has been replaced meanwhile.
 */
static int output_open_old(const struct output *o)
{
	int fd = openat(o->at.folder, o->at.name,
			O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 ||
	    (!fstat(fd, &st) && st.st_dev == o->at.st.st_dev && st.st_ino == o->at.st.st_ino))
		return fd;
	close(fd);
	return -1;
}

/* Marks the old file, too: others open that one until the new one has its name. */
static int output_replace(struct output *o, bool force)
{
	o->old_fd = output_open_old(o);
	if (output_file_is_locked(o->old_fd))
		return -EALREADY;
	if (!force)
		return -EEXIST;
	output_lock_file(o->old_fd, F_RDLCK);
	return output_open_replacement(o);
}

/* Returns -ESTALE if the name has been taken meanwhile. */
static int output_create(struct output *o, bool is_whole)
{
	if (is_whole)
		return output_open_new(o);
	o->fd = openat(o->at.folder, o->at.name,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0666);
	if (o->fd < 0)
		return errno == EEXIST ? -ESTALE : -errno;
	output_lock_file(o->fd, F_WRLCK);
	o->is_ours = o->is_regular = true;
	return 0;
}

/*
 * A role must not block in open(2). A subcommand, which writes its output when complete, may: any
 * signal ends it.
 */
static int output_open_device(struct output *o, bool is_whole)
{
	const int nonblock = is_whole ? 0 : O_NONBLOCK;
	char path[32];
	int err;

	if (S_ISFIFO(o->at.st.st_mode) && path_end_is_foreign(&o->at)) {
		o->why = FOREIGN;
		return -EACCES;
	}
	path_end_proc_path(&o->at, path);
	o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | nonblock);
	if (o->fd >= 0)
		return 0;
	err = -errno;
	return err == -ENXIO && S_ISFIFO(o->at.st.st_mode) ? -EAGAIN : err;
}

static int output_open_found(struct output *o, bool force, bool is_whole)
{
	if (o->at.fd >= 0 && !S_ISREG(o->at.st.st_mode))
		return output_open_device(o, is_whole);
	if (o->at.fd >= 0)
		return output_replace(o, force);
	if (o->at.by_link) /* a dangling link: no file is created there */
		return force ? -ENOENT : -EEXIST;
	return output_create(o, is_whole);
}

static int output_try_path(struct output *o, const char *path, bool force, bool is_whole)
{
	const char *why;
	int err;

	*o = (struct output){ .fd = -1, .old_fd = -1, .path = path };
	err = path_end_find(&o->at, path, false);
	o->why = o->at.why;
	if (!err)
		err = output_open_found(o, force, is_whole);
	if (!err)
		return 0;
	why = o->why;
	if (o->fd >= 0)
		close(o->fd);
	output_drop(o);
	o->why = why;
	return err;
}

static int output_open_path(struct output *o, const char *path, bool force, bool is_whole)
{
	int err = -ESTALE;

	if (!strcmp(path, "-")) {
		output_open_fd(o, STDOUT_FILENO);
		return fcntl(o->fd, F_GETFL) < 0 ? -errno : 0;
	}
	for (int i = 0; i < MOST_TRIES && err == -ESTALE; i++)
		err = output_try_path(o, path, force, is_whole);
	return err == -ESTALE ? -EEXIST : err;
}

int output_open(struct output *o, const char *path, bool force)
{
	return output_open_path(o, path, force, false);
}

int output_open_whole(struct output *o, const char *path, bool force)
{
	return output_open_path(o, path, force, true);
}
