// SPDX-License-Identifier: BSD-2-Clause
/*
 * As seqchildren, but SIGCHLD is ignored: the kernel reaps the children itself and no wait4() or
 * RUSAGE_CHILDREN has their CPU. Each child adds its own clock to shared memory instead, and when
 * it read that: what it uses to exit is after it.
 * With "wait" it first writes a line, and goes on when there is something to read.
 * Usage: ignchld N MS [wait]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct {
		double cpu, read_times;
	} *sum = memory_map_shared(sizeof(*sum));
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
			sum->cpu += cpu_own_seconds();
			sum->read_times += clock_ns(CLOCK_REALTIME) / 1e9;
			_exit(0);
		}
		while (waitpid(pid, NULL, 0) >= 0 || errno == EINTR)
			;
		if (errno != ECHILD)
			truth_fail("waitpid");
	}
	truth_write(1 + n, 0, sum->cpu,
		    ",\"children_cpu_seconds\":%.9f,\"children_read_times\":%.6f", sum->cpu,
		    sum->read_times);
	return 0;
}
