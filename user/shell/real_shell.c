// SPDX-License-Identifier: BSD-2-Clause
#include "shell/real_shell.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_WITHOUT_VARIABLE "/usr/bin:/bin"

/* Executes it, unless it is this program; returns why not. */
static int shell_try(const char *path, char **argv)
{
	struct stat self, other;

	if (stat(path, &other))
		return -errno;
	if (!stat("/proc/self/exe", &self) && self.st_dev == other.st_dev &&
	    self.st_ino == other.st_ino)
		return -ENOENT;
	execv(path, argv);
	return -errno;
}

int path_execute(const char *name, char **argv)
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];
	int err = -ENOENT;

	if (!folder)
		folder = PATH_WITHOUT_VARIABLE;
	for (size_t n;; folder += n + 1) {
		n = strcspn(folder, ":");
		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", n ? (int)n : 1,
				     n ? folder : ".", name) < sizeof(path))
			err = shell_try(path, argv);
		if (!folder[n] || (err != -ENOENT && err != -ENOTDIR && err != -EACCES))
			return err;
	}
}

int real_shell_execute(char **argv, bool was_wrapper)
{
	int err = shell_try(REAL_SHELL, argv);

	if (err != -E2BIG && !was_wrapper)
		err = path_execute("bash", argv);
	if (err != -E2BIG)
		err = shell_try("/bin/sh", argv);
	if (err != -E2BIG)
		err = path_execute("sh", argv);
	return err;
}
