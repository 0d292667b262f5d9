// SPDX-License-Identifier: BSD-2-Clause
/*
 * A parent with MIB MiB of touched small pages forks and execs a program N times, one after the
 * other; the CPU of copying the page tables at each fork is the parent's.
 * Usage: bigparent MIB N PATH [ARGS]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double cpu = 0;
	struct rusage ru;
	long n;

	if (argc < 4)
		truth_usage("bigparent MIB N PATH [ARGS]");
	n = truth_number(argv[2]);
	truth_out_hide();
	touch_mib(truth_number(argv[1]));
	for (long i = 0; i < n; i++) {
		pid_t pid = child_fork();

		if (!pid) {
			execv(argv[3], argv + 3);
			truth_fail("exec of %s", argv[3]);
		}
		child_reap_ok(pid, &cpu);
	}
	getrusage(RUSAGE_SELF, &ru);
	truth_write(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"maxrss_kb\":%ld", cpu,
		    ru.ru_maxrss);
	return 0;
}
