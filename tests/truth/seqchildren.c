// SPDX-License-Identifier: BSD-2-Clause
/*
 * N children, one after the other, each burns MS milliseconds of CPU and is reaped by wait4(). The
 * CPU of the children in the witness is the sum of what wait4() returned.
 * Usage: seqchildren N MS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double cpu = 0;
	long n;

	if (argc != 3)
		truth_usage("seqchildren N MS");
	n = truth_number(argv[1]);
	for (long i = 0; i < n; i++) {
		pid_t pid = child_fork();

		if (!pid) {
			spin_ms(truth_number(argv[2]));
			_exit(0);
		}
		child_reap_ok(pid, &cpu);
	}
	truth_write(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
