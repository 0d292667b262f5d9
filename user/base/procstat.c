// SPDX-License-Identifier: BSD-2-Clause
#include "base/procstat.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int procstat_read(pid_t pid, char *state, pid_t *parent)
{
	char path[64], text[512], *end;
	__cleanup(fclosep) FILE *f = NULL;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d", state, parent) != 2)
		return -EBADMSG;
	return 0;
}

bool procstat_is_own_namespace(void)
{
	char link[32];
	ssize_t n = readlink("/proc/self", link, sizeof(link) - 1);

	if (n <= 0)
		return false;
	link[n] = '\0';
	return atoi(link) == getpid();
}

int procstat_read_leader(pid_t pid, pid_t *leader)
{
	char path[64], line[256];
	__cleanup(fclosep) FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", leader) == 1)
			return 0;
	return -EBADMSG;
}
