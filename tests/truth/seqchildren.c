// SPDX-License-Identifier: BSD-2-Clause
/*
 * N children, one after the other, each burns MS milliseconds of CPU and is reaped by wait4(). The
 * CPU of the children in the witness is the sum of what wait4() said.
 * Usage: seqchildren N MS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double cpu = 0;
	long n;

	if (argc != 3)
		usage("seqchildren N MS");
	n = number(argv[1]);
	for (long i = 0; i < n; i++) {
		pid_t pid = xfork();

		if (!pid) {
			spin_ms(number(argv[2]));
			_exit(0);
		}
		reap_ok(pid, &cpu);
	}
	tell(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f", cpu);
	return 0;
}
