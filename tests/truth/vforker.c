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
		usage("vforker N PATH [ARGS]");
	n = number(argv[1]);
	hide_truth_out();
	for (long i = 0; i < n; i++) {
		pid_t pid = vfork();

		if (pid < 0)
			die("vfork");
		if (!pid) {
			execve(argv[2], argv + 2, environ);
			failed = errno;
			_exit(TRUTH_ERROR);
		}
		nonzero += !!reap(pid, &cpu);
		errno = failed;
		if (failed)
			die("exec of %s", argv[2]);
	}
	tell(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"nonzero\":%ld", cpu, nonzero);
	return 0;
}
