// SPDX-License-Identifier: BSD-2-Clause
/*
 * As seqchildren, but SIGCHLD is ignored: the kernel reaps the children itself and no wait4() or
 * RUSAGE_CHILDREN has their CPU. Each child adds its own clock to shared memory instead.
 * Usage: ignchld N MS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double *sum = memory_map_shared(sizeof(*sum));
	long n;

	if (argc != 3)
		truth_usage("ignchld N MS");
	n = truth_number(argv[1]);
	signal(SIGCHLD, SIG_IGN);
	for (long i = 0; i < n; i++) {
		pid_t pid = child_fork();

		if (!pid) {
			spin_ms(truth_number(argv[2]));
			*sum += cpu_own_seconds();
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) >= 0 || errno == EINTR)
			;
		if (errno != ECHILD)
			truth_fail("waitpid");
	}
	truth_write(1 + n, 0, *sum, ",\"children_cpu_seconds\":%.9f", *sum);
	return 0;
}
