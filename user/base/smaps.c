// SPDX-License-Identifier: BSD-2-Clause
#include "base/smaps.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kilobytes(const char *text, const char *name, uint64_t *bytes)
{
	const char *at = strstr(text, name);

	if (!at)
		return -EBADMSG;
	*bytes = strtoull(at + strlen(name), NULL, 10) * 1024;
	return 0;
}

static int read_rollup(const char *path, struct smaps *said)
{
	uint64_t pss, clean, dirty;
	char text[4096];
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1); /* the kernel makes it in one piece */
	if (n <= 0)
		return n ? -errno : -ESRCH;
	text[n] = '\0';
	if (kilobytes(text, "\nPss:", &pss) || kilobytes(text, "\nPrivate_Clean:", &clean) ||
	    kilobytes(text, "\nPrivate_Dirty:", &dirty))
		return -EBADMSG;
	*said = (struct smaps){ .pss_bytes = pss, .uss_bytes = clean + dirty };
	return 0;
}

/* Once its first thread has exited, only the files of the others say what a process has. */
static int read_of_threads(pid_t pid, struct smaps *said)
{
	char path[64 + NAME_MAX];
	const struct dirent *thread;
	__cleanup(closedirp) DIR *threads = NULL;
	int err = -ESRCH;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	threads = opendir(path);
	while (threads && err == -ESRCH && (thread = readdir(threads))) {
		if (thread->d_name[0] == '.' || strtol(thread->d_name, NULL, 10) == pid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/smaps_rollup", pid, thread->d_name);
		err = read_rollup(path, said);
		if (err == -ENOENT)
			err = -ESRCH;
	}
	return err;
}

int smaps_read(pid_t pid, struct smaps *said)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	err = read_rollup(path, said);
	return err == -ESRCH ? read_of_threads(pid, said) : err;
}
