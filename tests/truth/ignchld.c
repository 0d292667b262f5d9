// SPDX-License-Identifier: BSD-2-Clause
/*
 * As seqchildren, but SIGCHLD is ignored: the kernel reaps the children itself and no wait4() or
 * RUSAGE_CHILDREN ever sees their CPU. Each child tells its own clock in shared memory instead.
 * Usage: ignchld N MS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double *sum = shared(sizeof(*sum));
	long n;

	if (argc != 3)
		usage("ignchld N MS");
	n = number(argv[1]);
	signal(SIGCHLD, SIG_IGN);
	for (long i = 0; i < n; i++) {
		pid_t pid = xfork();

		if (!pid) {
			spin_ms(number(argv[2]));
			*sum += own_cpu();
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) >= 0 || errno == EINTR)
			;
		if (errno != ECHILD)
			die("waitpid");
	}
	tell(1 + n, 0, *sum, ",\"children_cpu_seconds\":%.9f", *sum);
	return 0;
}
