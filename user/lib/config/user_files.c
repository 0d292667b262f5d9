// SPDX-License-Identifier: BSD-2-Clause
#include "config/user_files.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct file_fault {
	const char *text;   /* why the file cannot be used; NULL if it can */
	const char *remedy; /* a command without the file; or NULL */
};

static void file_fault_print(const struct file_fault *fault, const char *path, char *out,
			     size_t size)
{
	if (fault->remedy)
		snprintf(out, size, "%s; run: %s %s", fault->text, fault->remedy, path);
	else
		snprintf(out, size, "%s", fault->text);
}

/*
 * Where each user has a group of its own with the same number, new files are often writable by that
 * group.
 */
static struct file_fault user_file_fault(const struct stat *st, const struct user *u)
{
	bool has_own_group = u->gid == (gid_t)u->uid && st->st_gid == u->gid;

	if (!S_ISREG(st->st_mode))
		return (struct file_fault){ "it is not a regular file", NULL };
	if (st->st_uid && st->st_uid != u->uid)
		return (struct file_fault){ "it belongs to another user", NULL };
	if (st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !has_own_group))
		return (struct file_fault){ "other users can write to it", "chmod go-w" };
	if (st->st_size >= USER_FILE_BYTES)
		return (struct file_fault){ "it is too large", NULL };
	return (struct file_fault){ NULL, NULL };
}

static int user_file_read_text(struct user_file *file, int fd)
{
	ssize_t n;

	file->text = memory_malloc(USER_FILE_BYTES);
	if (!file->text)
		return -ENOMEM;
	n = bytes_read(fd, file->text, USER_FILE_BYTES - 1);
	if (n < 0) {
		snprintf(file->why, sizeof(file->why), "%s", strerror((int)-n));
		free(file->text);
		file->text = NULL;
		return 0;
	}
	file->length = (size_t)n;
	file->text[n] = '\0';
	return 0;
}

/* Returns true if the user has no such file: also if its folder is closed to the user. */
static bool user_file_is_absent(const char *path, int err)
{
	struct stat st;

	return err == -ENOENT || err == -ENOTDIR ||
	       (err == -EACCES && lstat(path, &st) && errno == EACCES);
}

/* O_NONBLOCK: opening a FIFO would wait for its writer. */
static int user_file_open(struct user_file *file, const struct user *u, int flags)
{
	__cleanup(closep) int fd =
		open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	struct file_fault fault;
	struct stat st = { 0 };
	int err = fd < 0 || fstat(fd, &st) ? -errno : 0;

	if (fd < 0 && user_file_is_absent(file->path, err)) {
		*file->path = '\0';
		return 0;
	}
	if (err) {
		snprintf(file->why, sizeof(file->why), "%s",
			 err == -ELOOP ? "it is a symbolic link" : strerror(-err));
		return 0;
	}
	fault = user_file_fault(&st, u);
	if (fault.text) {
		file_fault_print(&fault, file->path, file->why, sizeof(file->why));
		return 0;
	}
	return user_file_read_text(file, fd);
}

static void user_config_path(char *path, const char *home)
{
	const char *config = getenv("XDG_CONFIG_HOME");

	/* the specification requires to ignore relative paths */
	if (config && *config == '/' && strlen(config) < 4000)
		snprintf(path, USER_FILE_PATH_BYTES, "%s/bpfmon/config", config);
	else
		snprintf(path, USER_FILE_PATH_BYTES, "%.3900s/.config/bpfmon/config", home);
}

static bool folder_is(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Finds the project file; sets *@path empty if there is none. A folder of that name does not count.
 */
static void project_path_find(char *path, const char *home)
{
	struct stat here, above, file, home_folder = { 0 };
	char folder[4096];
	char *slash;

	*path = '\0';
	if (!getcwd(folder, sizeof(folder)) || *folder != '/' || stat(folder, &here))
		return;
	if (stat(home, &home_folder))
		home_folder.st_ino = 0;
	for (;;) {
		snprintf(path, USER_FILE_PATH_BYTES, "%s/" PROJECT_FILE, folder[1] ? folder : "");
		if (!lstat(path, &file) && !S_ISDIR(file.st_mode))
			return;
		if (!folder[1] || folder_is(&here, &home_folder))
			break;
		slash = strrchr(folder, '/');
		slash[slash == folder] = '\0';
		if (stat(folder, &above) || above.st_dev != here.st_dev)
			break;
		here = above;
	}
	*path = '\0';
}

static int user_files_open(struct user_file files[NR_USER_FILES], const struct user *u,
			   const char *home)
{
	int err;

	user_config_path(files[FILE_OF_USER].path, home);
	err = user_file_open(&files[FILE_OF_USER], u, 0);
	project_path_find(files[FILE_OF_PROJECT].path, home);
	if (!err && *files[FILE_OF_PROJECT].path)
		err = user_file_open(&files[FILE_OF_PROJECT], u, O_NOFOLLOW);
	return err;
}

static bool user_file_send(int fd, struct user_file *file)
{
	return bytes_transfer(fd, file, sizeof(*file), false) &&
	       bytes_transfer(fd, file->text, file->length, false);
}

/* The child has only the rights of the user, who owns these files; lengths are checked. */
static int user_file_receive(int fd, struct user_file *file)
{
	bool has_text;

	if (!bytes_transfer(fd, file, sizeof(*file), true))
		return -EIO;
	has_text = file->text != NULL; /* the pointer is the child's */
	file->text = NULL;
	file->path[sizeof(file->path) - 1] = file->why[sizeof(file->why) - 1] = '\0';
	if (!has_text)
		return 0;
	file->text = file->length < USER_FILE_BYTES ? memory_malloc(file->length + 1) : NULL;
	if (!file->text)
		return -ENOMEM;
	file->text[file->length] = '\0';
	return bytes_transfer(fd, file->text, file->length, true) ? 0 : -EIO;
}

static int user_files_send(int fd, struct user_file files[NR_USER_FILES], const struct user *u,
			   const char *home)
{
	if (user_become(u) || user_files_open(files, u, home))
		return 1;
	for (int i = 0; i < NR_USER_FILES; i++)
		if (!user_file_send(fd, &files[i]))
			return 1;
	return 0;
}

static int user_files_read_as(struct user_file files[NR_USER_FILES], const struct user *u,
			      const char *home)
{
	int ends[2], status, err;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child)
		_exit(user_files_send(ends[1], files, u, home));
	err = child < 0 ? -errno : 0;
	close(ends[1]);
	for (int i = 0; !err && i < NR_USER_FILES; i++)
		err = user_file_receive(ends[0], &files[i]);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return err;
}

int user_files_read(struct user_file files[NR_USER_FILES], const struct user *u, const char *home,
		    bool as_other)
{
	int err;

	memset(files, 0, NR_USER_FILES * sizeof(*files));
	err = as_other ? user_files_read_as(files, u, home) : user_files_open(files, u, home);
	if (err)
		user_files_done(files);
	return err;
}

void user_files_done(struct user_file files[NR_USER_FILES])
{
	for (int i = 0; i < NR_USER_FILES; i++)
		free(files[i].text);
	memset(files, 0, NR_USER_FILES * sizeof(*files));
}

static struct file_fault fault_of_secret(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return (struct file_fault){ "it is not a regular file", NULL };
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return (struct file_fault){ "another user owns it", "chown root" };
	if (st->st_mode & S_IRWXO)
		return (struct file_fault){ "other users can access it", "chmod o=" };
	if (st->st_mode & S_IWGRP)
		return (struct file_fault){ "its group can write to it", "chmod g-w" };
	return (struct file_fault){ NULL, NULL };
}

int secret_open(const char *path, char *why, size_t size)
{
	/* O_NONBLOCK: opening a FIFO would wait for its writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct file_fault fault;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		snprintf(why, size, "cannot open %s: %s", path, strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	fault = fault_of_secret(&st);
	if (!fault.text)
		return fd;
	close(fd);
	if (fault.remedy)
		snprintf(why, size, "refusing to use %s as a secret: %s; run: %s %s", path,
			 fault.text, fault.remedy, path);
	else
		snprintf(why, size, "refusing to use %s as a secret: %s", path, fault.text);
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
		snprintf(why, size, "the first line of %s must have 1 to %zu characters", path,
			 room - 1);
		return -EINVAL;
	}
	explicit_bzero(out + length, room - length);
	return 0;
}
