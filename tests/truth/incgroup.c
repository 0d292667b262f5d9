// SPDX-License-Identifier: BSD-2-Clause
/*
 * Moves itself into each of the given cgroups and execs a command, with the same pid. The CPU used
 * until the first move begins, until the last one has ended, and until just before the exec goes to
 * $TRUTH_BEFORE, if that is set.
 * Usage: incgroup DIR[,DIR2...] CMD [ARGS]
 */
#include "truth.h"

static void cgroup_join(const char *dir)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "%d\n", getpid()) < 0)
		truth_fail("%s", path);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *before = getenv("TRUTH_BEFORE");
	char buf[192], *save = NULL;
	double joining, joined;
	int len;

	if (argc < 3)
		truth_usage("incgroup DIR[,DIR2...] CMD [ARGS]");
	joining = cpu_own_seconds();
	for (char *dir = strtok_r(argv[1], ",", &save); dir; dir = strtok_r(NULL, ",", &save))
		cgroup_join(dir);
	joined = cpu_own_seconds();
	if (before) {
		len = snprintf(buf, sizeof(buf),
			       "{\"cpu_before_seconds\":%.9f,\"cpu_joined_seconds\":%.9f,"
			       "\"cpu_joining_seconds\":%.9f}\n",
			       cpu_own_seconds(), joined, joining);
		file_write_once(before, buf, len);
	}
	execvp(argv[2], argv + 2);
	truth_fail("exec of %s", argv[2]);
}
