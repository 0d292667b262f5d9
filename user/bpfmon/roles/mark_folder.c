// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/mark_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_NAME "marks"
#define PREFIX "bpfmon-marks-"
#define TRIES 16

/* A folder in which only its owner, @uid or root can move what is made there. */
static int base_folder_open(const char *path, bool is_own, uid_t uid)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (st.st_uid == uid || (!is_own && !st.st_uid)) &&
	    (!(st.st_mode & 022) || st.st_mode & S_ISVTX))
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * The folder @name, which has just been made, open and marked as in use by a lock. -EAGAIN: another
 * keeper took it for one that was left, before it was locked.
 */
static int own_folder_open(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	struct stat st;

	if (err == -ENOENT)
		return -EAGAIN;
	if (!err && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = -EAGAIN;
	if (!err && !fstat(fd, &st) && !st.st_nlink)
		err = -EAGAIN;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (err != -EAGAIN)
		unlinkat(base, name, AT_REMOVEDIR);
	return err;
}

/* A private folder in @base, with a random name. */
static int own_folder_make(int base, char name[MARK_FOLDER_BYTES])
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t random = 0;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -EIO;
		snprintf(name, MARK_FOLDER_BYTES, PREFIX "%016llx", (unsigned long long)random);
		if (mkdirat(base, name, 0700)) {
			if (errno != EEXIST)
				return -errno;
			continue;
		}
		fd = own_folder_open(base, name);
		if (fd != -EAGAIN)
			return fd;
	}
	return -EEXIST;
}

/* By its name in the current folder: no other name is looked up. */
static int own_folder_bind(int folder, int fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = SOCKET_NAME };
	struct stat st;

	if (fstat(folder, &st) || st.st_uid != geteuid() || (st.st_mode & 07777) != 0700)
		return -EPERM;
	if (fchdir(folder) || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return -errno;
	return 0;
}

int mark_folder_make(struct mark_folder *f, const char *path, bool is_own, int fd)
{
	int base = base_folder_open(path, is_own, geteuid()), n, err;

	if (base < 0)
		return base;
	f->fd = own_folder_make(base, f->name);
	if (f->fd < 0) {
		close(base);
		return f->fd;
	}
	n = snprintf(f->path, sizeof(f->path), "%s/%s/" SOCKET_NAME, path, f->name);
	err = n < (int)sizeof(f->path) ? own_folder_bind(f->fd, fd) : -ENAMETOOLONG;
	if (err) {
		unlinkat(f->fd, SOCKET_NAME, 0);
		unlinkat(base, f->name, AT_REMOVEDIR);
		close(f->fd);
	}
	close(base);
	return err;
}

void mark_folder_remove(const struct mark_folder *f)
{
	unlink(SOCKET_NAME);
	if (!chdir(".."))
		rmdir(f->name);
}

/* A folder of this user's that no keeper has locked: its keeper was killed. */
static void left_folder_remove(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
		unlinkat(fd, SOCKET_NAME, 0);
		unlinkat(base, name, AT_REMOVEDIR);
	}
	close(fd);
}

void mark_folder_remove_left(const struct mark_folder *f)
{
	DIR *d = opendir("..");
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, PREFIX, strlen(PREFIX)) && strcmp(e->d_name, f->name) != 0)
			left_folder_remove(dirfd(d), e->d_name);
	if (d)
		closedir(d);
}
