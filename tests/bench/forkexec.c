// SPDX-License-Identifier: BSD-2-Clause
/*
 * N times, one after the other: fork, exec of /bin/true, wait. No vfork and no posix_spawn.
 * Usage: forkexec N
 */
#include "bench.h"

#define HELP "forkexec N"

int main(int argc, char **argv)
{
	char *args[] = { "true", NULL };
	double start;
	long n;

	if (argc != 2)
		usage(HELP);
	n = number(argv[1], HELP);
	start = now();
	for (long i = 0; i < n; i++) {
		pid_t pid = xfork();

		if (!pid) {
			execv("/bin/true", args);
			_exit(127);
		}
		if (reap(pid)) {
			errno = ECHILD;
			die("/bin/true");
		}
	}
	report(now() - start);
	return 0;
}
