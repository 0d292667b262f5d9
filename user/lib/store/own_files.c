// SPDX-License-Identifier: BSD-2-Clause
#include "store/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOUND "/proc/self/fd/" /* a folder that was opened by path_end_find() */

static sqlite3_vfs *below, own;

static bool is_found(const char *path)
{
	return path && !strncmp(path, FOUND, strlen(FOUND));
}

static bool is_in_a_folder_open_to_all(const char *path)
{
	char folder[64];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	return stat(folder, &st) || st.st_mode & S_IWOTH;
}

/* Once it is ours no other user can take its name: a folder that is open to all is sticky, or lost.
 */
static bool is_own(const char *path, bool is_made)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, is_made ? flags | O_CREAT : flags, 0600);
	struct stat st;
	bool is;

	if (fd < 0)
		return errno == ENOENT;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	     (!st.st_uid || st.st_uid == geteuid());
	close(fd);
	return is;
}

static bool may_open(const char *path, int flags)
{
	const bool is_made = flags & SQLITE_OPEN_CREATE;
	char index[4096];
	size_t n = strlen(path);

	if (!is_in_a_folder_open_to_all(path))
		return true;
	if (!is_own(path, is_made))
		return false;
	if (!(flags & SQLITE_OPEN_WAL) || n < strlen("-wal") || n >= sizeof(index))
		return !(flags & SQLITE_OPEN_WAL);
	snprintf(index, sizeof(index), "%.*s-shm", (int)(n - strlen("-wal")), path);
	return is_own(index, is_made);
}

static int own_open(sqlite3_vfs *v, const char *path, sqlite3_file *file, int flags, int *given)
{
	/* a journal may name any file as that of several databases, which would be removed */
	if (flags & SQLITE_OPEN_SUPER_JOURNAL || (is_found(path) && !may_open(path, flags))) {
		file->pMethods = NULL;
		return SQLITE_PERM;
	}
	return below->xOpen(v, path, file, flags, given);
}

static int own_full_path(sqlite3_vfs *v, const char *path, int size, char *out)
{
	if (!is_found(path))
		return below->xFullPathname(v, path, size, out);
	return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void register_own(void)
{
	if (sqlite3_initialize() != SQLITE_OK)
		return;
	below = sqlite3_vfs_find(NULL);
	if (!below)
		return;
	own = *below;
	own.pNext = NULL;
	own.zName = "bpfmon-own-files";
	own.xOpen = own_open;
	own.xFullPathname = own_full_path;
	if (sqlite3_vfs_register(&own, 0) != SQLITE_OK)
		own.zName = NULL;
}

const char *own_files(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_own);
	return own.zName;
}
