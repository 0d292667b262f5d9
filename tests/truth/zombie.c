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
		usage("zombie MS SECS");
	pid = xfork();
	if (!pid) {
		spin_ms(number(argv[1]));
		_exit(0);
	}
	while (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOWAIT, &ru))
		if (errno != EINTR)
			die("waitid");
	sleep_seconds(number(argv[2]));
	tell(2, 0, ru_seconds(&ru), ",\"zombie_pid\":%d,\"zombie_cpu_seconds\":%.6f", pid,
	     ru_seconds(&ru));
	return 0;
}
