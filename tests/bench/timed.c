// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs a command and reports the wall time from before its fork until it was reaped, for a workload
 * that cannot tell this itself. Ends with the command's exit code.
 * Usage: timed COMMAND [ARGS]
 */
#include "bench.h"

int main(int argc, char **argv)
{
	double start;
	pid_t pid;
	int code;

	if (argc < 2)
		usage("timed COMMAND [ARGS]");
	start = now();
	pid = xfork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "timed: %s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	code = reap(pid);
	report(now() - start);
	return code;
}
