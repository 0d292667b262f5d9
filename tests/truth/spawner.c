// SPDX-License-Identifier: BSD-2-Clause
/*
 * N times posix_spawn() of a program, one after the other, each waited for; there are N + 1
 * processes if that program makes none. An ending other than 0 is only counted.
 * Usage: spawner N PATH [ARGS]
 */
#include "truth.h"
#include <spawn.h>

int main(int argc, char **argv)
{
	long n, nonzero = 0;
	double cpu = 0;
	pid_t pid;

	if (argc < 3)
		truth_usage("spawner N PATH [ARGS]");
	n = truth_number(argv[1]);
	truth_out_hide();
	for (long i = 0; i < n; i++) {
		errno = posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ);
		if (errno)
			truth_fail("posix_spawn of %s", argv[2]);
		nonzero += !!child_reap(pid, &cpu);
	}
	truth_write(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"nonzero\":%ld", cpu, nonzero);
	return 0;
}
