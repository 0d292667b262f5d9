// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child in a new pid namespace (pid 1 in there) forks one grandchild (pid 2); each burns MS
 * milliseconds of CPU. Wants root; ends with 77 where no such namespace may be made.
 * Usage: pidns MS
 */
#include "truth.h"
#include <sched.h>

int main(int argc, char **argv)
{
	pid_t *inside = memory_map_shared(2 * sizeof(*inside));
	double cpu = 0, ms;
	pid_t pid;

	if (argc != 2)
		truth_usage("pidns MS");
	ms = truth_number(argv[1]);
	pid = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0) {
		if (errno == EPERM || errno == EINVAL || errno == ENOSPC)
			truth_skip("a new PID namespace is refused");
		truth_fail("clone");
	}
	if (!pid) {
		inside[0] = getpid();
		pid = child_fork();
		if (!pid)
			inside[1] = getpid();
		spin_ms(ms);
		if (pid)
			child_reap_ok(pid, &cpu);
		_exit(0);
	}
	child_reap_ok(pid, &cpu);
	truth_write(3, 0, cpu,
		    ",\"children_cpu_seconds\":%.6f,\"inside_pids\":[%d,%d],\"outside_pid\":%d",
		    cpu, inside[0], inside[1], pid);
	return 0;
}
