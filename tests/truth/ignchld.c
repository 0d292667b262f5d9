// SPDX-License-Identifier: BSD-2-Clause
/*
 * As seqchildren, but SIGCHLD is ignored: the kernel reaps the children itself and no wait4() or
 * RUSAGE_CHILDREN has their CPU. Each child adds its own CPU clock to shared memory instead. What
 * it uses to exit comes later, within the time from that reading until its parent learns that the
 * kernel has reaped it.
 * With "wait" it first writes a line, and goes on when there is something to read.
 * Usage: ignchld N MS [wait]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct {
		double cpu;
		int64_t read_ns; /* when the last child read its clock */
	} *sum = memory_map_shared(sizeof(*sum));
	int64_t unread_ns = 0;
	long n;
	char line;

	if (argc != 3 && argc != 4)
		truth_usage("ignchld N MS [wait]");
	n = truth_number(argv[1]);
	signal(SIGCHLD, SIG_IGN);
	if (argc == 4 && (write(STDOUT_FILENO, "\n", 1) != 1 || read(STDIN_FILENO, &line, 1) != 1))
		truth_fail("wait");
	for (long i = 0; i < n; i++) {
		pid_t pid = child_fork();

		if (!pid) {
			spin_ms(truth_number(argv[2]));
			sum->read_ns = clock_ns(CLOCK_MONOTONIC);
			sum->cpu += cpu_own_seconds();
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) >= 0 || errno == EINTR)
			;
		if (errno != ECHILD)
			truth_fail("waitpid");
		unread_ns += clock_ns(CLOCK_MONOTONIC) - sum->read_ns;
	}
	truth_write(1 + n, 0, sum->cpu,
		    ",\"children_cpu_seconds\":%.9f,\"children_unread_seconds\":%.9f", sum->cpu,
		    (double)unread_ns / 1e9);
	return 0;
}
