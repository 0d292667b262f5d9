// SPDX-License-Identifier: BSD-2-Clause
#include "base/smaps.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int smaps_find_bytes(const char *text, const char *name, uint64_t *bytes)
{
	const char *at = strstr(text, name);

	if (!at)
		return -EBADMSG;
	*bytes = strtoull(at + strlen(name), NULL, 10) * 1024;
	return 0;
}

static int smaps_read_file(const char *path, struct smaps *out)
{
	uint64_t pss, clean, dirty;
	char text[4096];
	__cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1); /* the kernel returns the whole file at once */
	if (n <= 0)
		return n ? -errno : -ESRCH;
	text[n] = '\0';
	if (smaps_find_bytes(text, "\nPss:", &pss) ||
	    smaps_find_bytes(text, "\nPrivate_Clean:", &clean) ||
	    smaps_find_bytes(text, "\nPrivate_Dirty:", &dirty))
		return -EBADMSG;
	*out = (struct smaps){ .pss_bytes = pss, .uss_bytes = clean + dirty };
	return 0;
}

/* Once the first thread of a process has exited, only the files of the others can be read. */
static int smaps_read_threads(pid_t pid, struct smaps *out)
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
		err = smaps_read_file(path, out);
		if (err == -ENOENT)
			err = -ESRCH;
	}
	return err;
}

int smaps_read(pid_t pid, struct smaps *out)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	err = smaps_read_file(path, out);
	return err == -ESRCH ? smaps_read_threads(pid, out) : err;
}
