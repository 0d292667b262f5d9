// SPDX-License-Identifier: BSD-2-Clause
#include "base/pidfd.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

int pidfd_make(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd; /* it is closed on exec */
}

pid_t pidfd_pid(int fd)
{
	char path[64], line[128];
	__cleanup(fclosep) FILE *f = NULL;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &pid) == 1)
			return pid > 0 ? pid : pid < 0 ? -ESRCH : -EBADMSG;
	return -EBADMSG;
}
