// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child makes a grandchild by clone(CLONE_PARENT), so that it becomes a second child of the
 * first process; the grandchild burns MS milliseconds of CPU, both are reaped by the first process.
 * Usage: cloneparent MS
 */
#include "truth.h"
#include <sched.h>

int main(int argc, char **argv)
{
	double cpu = 0;
	pid_t pid;

	if (argc != 2)
		truth_usage("cloneparent MS");
	pid = child_fork();
	if (!pid) {
		pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (pid < 0)
			truth_fail("clone");
		if (!pid)
			spin_ms(truth_number(argv[1]));
		_exit(0);
	}
	child_reap_ok(-1, &cpu);
	child_reap_ok(-1, &cpu);
	truth_write(3, 0, cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
