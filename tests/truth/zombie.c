// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child burns MS milliseconds of CPU and ends but is never reaped; the parent sleeps SECS seconds
 * and ends. The CPU of the zombie is read by waitid(WNOWAIT), which leaves it a zombie.
 * Usage: zombie MS SECS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct rusage ru;
	siginfo_t info;
	pid_t pid;

	if (argc != 3)
		truth_usage("zombie MS SECS");
	pid = child_fork();
	if (!pid) {
		spin_ms(truth_number(argv[1]));
		_exit(0);
	}
	while (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT, &ru))
		if (errno != EINTR)
			truth_fail("waitid");
	sleep_seconds(truth_number(argv[2]));
	truth_write(2, 0, ru_seconds(&ru), ",\"zombie_pid\":%d,\"zombie_cpu_seconds\":%.6f", pid,
		    ru_seconds(&ru));
	return 0;
}
