// SPDX-License-Identifier: BSD-2-Clause
/*
 * Holds N children alive at once for SECS seconds; they pause, are then killed by pid with SIGKILL
 * and reaped.
 * Usage: liveprocs N SECS
 */
#include "truth.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	double cpu = 0;
	pid_t *pids;
	long n;

	if (argc != 3)
		truth_usage("liveprocs N SECS");
	n = truth_number(argv[1]);
	pids = calloc(n + 1, sizeof(*pids));
	if (!pids)
		truth_fail("calloc");
	for (long i = 0; i < n; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		if (pids[i] < 0)
			truth_fail("fork of child %ld", i);
	}
	sleep_seconds(truth_number(argv[2]));
	for (long i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (long i = 0; i < n; i++)
		child_reap(pids[i], &cpu);
	truth_write(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
