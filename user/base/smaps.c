// SPDX-License-Identifier: BSD-2-Clause
#include "base/smaps.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
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

int smaps_read(pid_t pid, struct smaps *said)
{
	uint64_t pss, clean, dirty;
	char path[64], text[4096];
	__cleanup(closep) int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
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
