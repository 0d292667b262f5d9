// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs a command as its only child and writes to OUT how it ended and what wait4() says about it
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
		usage("witness OUT CMD [ARGS]");
	start = clock_ns(CLOCK_MONOTONIC);
	pid = xfork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		die("exec of %s", argv[2]);
	}
	status = reap_ru(pid, &ru);
	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "\"signal\":%d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "\"exit_code\":%d", WEXITSTATUS(status));
	len = snprintf(buf, sizeof(buf), "{%s,\"pid\":%d,\"wall_seconds\":%.6f," RU_FMT "}\n", how,
		       pid, (clock_ns(CLOCK_MONOTONIC) - start) / 1e9, RU_ARGS(&ru));
	write_file(argv[1], buf, len);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
