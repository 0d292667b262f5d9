// SPDX-License-Identifier: BSD-2-Clause
#include "measure/running.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stores the components of @path, leaf first, each ended by NUL. */
static void put_path(struct exec_event *e, char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		size_t n = strlen(slash + 1) + 1;

		if (e->path_bytes + n > PATH_BYTES) {
			e->flags |= EXEC_PATH_CUT;
			return;
		}
		memcpy(e->text + e->path_bytes, slash + 1, n);
		e->path_bytes += (__u32)n;
		*slash = '\0';
	}
}

static void put_args(struct exec_event *e, pid_t pid)
{
	char name[64], more;
	__cleanup(closep) int fd = -1;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, e->text + e->path_bytes, ARGS_BYTES);
	if (n < 0) {
		e->flags |= EXEC_ARGS_UNREAD;
		return;
	}
	e->args_bytes = (__u32)n;
	if (n == ARGS_BYTES && read(fd, &more, 1) == 1)
		e->flags |= EXEC_ARGS_CUT;
}

int image_of_running(pid_t pid, bool want_args, struct exec_event *e)
{
	static const char deleted[] = " (deleted)";
	char name[64], path[4096];
	struct stat st;
	ssize_t n;

	memset(e, 0, offsetof(struct exec_event, text));
	e->kind = EVENT_EXEC;
	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	n = readlink(name, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = '\0';
	if (n > (ssize_t)sizeof(deleted) && !strcmp(path + n - sizeof(deleted) + 1, deleted))
		path[n - (ssize_t)sizeof(deleted) + 1] = '\0';
	put_path(e, path);
	/* root's, if the process is not dumpable; the folder is its effective user's always */
	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	e->uid = stat(name, &st) ? 0 : st.st_uid;
	if (want_args)
		put_args(e, pid);
	return 0;
}
