// SPDX-License-Identifier: BSD-2-Clause
/*
 * N children, one after the other, by the bare clone system call (a fork without libc's handlers);
 * each ends at once and is reaped. For measuring what one process costs.
 * Usage: forkonly N
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct rusage ru;
	long n;

	if (argc != 2)
		truth_usage("forkonly N");
	n = truth_number(argv[1]);
	for (long i = 0; i < n; i++) {
		pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			truth_fail("child %ld", i);
	}
	getrusage(RUSAGE_CHILDREN, &ru);
	truth_write(1 + n, 0, ru_seconds(&ru), ",\"children_cpu_seconds\":%.6f", ru_seconds(&ru));
	return 0;
}
