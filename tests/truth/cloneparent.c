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
		usage("cloneparent MS");
	pid = xfork();
	if (!pid) {
		pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
		if (pid < 0)
			die("clone");
		if (!pid)
			spin_ms(number(argv[1]));
		_exit(0);
	}
	reap_ok(-1, &cpu);
	reap_ok(-1, &cpu);
	tell(3, 0, cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
