// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs a command as its only child and writes to OUT how it ended and what wait4() returned for it
 * and the children it has reaped. Ends with the status of the command, or 128 + signal.
 * Usage: witness OUT CMD [ARGS]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct rusage ru;
	char buf[1024], how[64];
	int64_t start;
	int status, len;
	pid_t pid;

	if (argc < 3)
		truth_usage("witness OUT CMD [ARGS]");
	start = clock_ns(CLOCK_MONOTONIC);
	pid = child_fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		truth_fail("exec of %s", argv[2]);
	}
	status = child_reap_usage(pid, &ru);
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "\"signal\":%d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "\"exit_code\":%d", WEXITSTATUS(status));
	len = snprintf(buf, sizeof(buf), "{%s,\"pid\":%d,\"wall_seconds\":%.6f," RU_FMT "}\n", how,
		       pid, (clock_ns(CLOCK_MONOTONIC) - start) / 1e9, RU_ARGS(&ru));
	file_write_once(argv[1], buf, len);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
