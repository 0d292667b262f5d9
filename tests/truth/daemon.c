// SPDX-License-Identifier: BSD-2-Clause
/*
 * A daemon made by fork, setsid and a second fork burns MS milliseconds of CPU; the first process
 * ends at once (and the daemon writes the witness), or with -w after the daemon is gone.
 * Usage: daemon [-w] MS
 */
#include "truth.h"

static void descriptors_detach(int keep)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		if (null < 0)
			close(fd);
		else
			dup2(null, fd);
	if (null > 2 && null != keep)
		close(null);
}

int main(int argc, char **argv)
{
	int wait = argc == 3 && !strcmp(argv[1], "-w");
	double *cpu = memory_map_shared(3 * sizeof(*cpu)), ms;
	int gone[2];
	char c;
	pid_t pid;

	if (argc != 2 + wait)
		truth_usage("daemon [-w] MS");
	ms = truth_number(argv[1 + wait]);
	if (pipe2(gone, O_CLOEXEC))
		truth_fail("pipe2");
	pid = child_fork();
	if (pid) {
		close(gone[1]);
		child_reap_ok(pid, cpu + 1);
		cpu[0] = cpu_own_seconds();
		if (wait) {
			while (read(gone[0], &c, 1) < 0 && errno == EINTR)
				;
			truth_write(3, 0, cpu[1] + cpu[2], ",\"daemon_cpu_seconds\":%.9f", cpu[2]);
		}
		return 0;
	}
	if (setsid() < 0)
		truth_fail("setsid");
	if (child_fork())
		_exit(0);
	descriptors_detach(gone[1]);
	spin_ms(ms);
	cpu[2] = cpu_own_seconds();
	if (!wait)
		truth_write(3, 0, cpu[0] + cpu[1], ",\"daemon_cpu_seconds\":%.9f", cpu[2]);
	_exit(0);
}
