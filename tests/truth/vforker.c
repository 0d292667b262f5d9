// SPDX-License-Identifier: BSD-2-Clause
/*
 * N times vfork() and execve() of a program, one after the other, each waited for; there are N + 1
 * processes if that program makes none. An ending other than 0 is only counted.
 * Usage: vforker N PATH [ARGS]
 */
#include "truth.h"

static long nonzero;
static double cpu;

int main(int argc, char **argv)
{
	volatile int failed = 0; /* the child of vfork() writes it in our memory */
	long n;

	if (argc < 3)
		truth_usage("vforker N PATH [ARGS]");
	n = truth_number(argv[1]);
	truth_out_hide();
	for (long i = 0; i < n; i++) {
		pid_t pid = vfork();

		if (pid < 0)
			truth_fail("vfork");
		if (!pid) {
			execve(argv[2], argv + 2, environ);
			failed = errno;
			_exit(TRUTH_ERROR);
		}
		nonzero += !!child_reap(pid, &cpu);
		errno = failed;
		if (failed)
			truth_fail("exec of %s", argv[2]);
	}
	truth_write(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"nonzero\":%ld", cpu, nonzero);
	return 0;
}
