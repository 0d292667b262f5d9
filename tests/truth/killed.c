// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child burns MS milliseconds of CPU, then waits until its parent kills it with SIGKILL and reaps
 * it.
 * Usage: killed MS
 */
#include "truth.h"

int main(int argc, char **argv)
{
	int done[2], status;
	double cpu = 0;
	pid_t pid;
	char c;

	if (argc != 2)
		truth_usage("killed MS");
	if (pipe(done))
		truth_fail("pipe");
	pid = child_fork();
	if (!pid) {
		close(done[0]);
		spin_ms(truth_number(argv[1]));
		if (write(done[1], "x", 1) != 1)
			truth_fail("write");
		for (;;)
			pause();
	}
	close(done[1]);
	if (read(done[0], &c, 1) != 1)
		truth_fail("the child ended too early");
	kill(pid, SIGKILL);
	status = child_reap(pid, &cpu);
	truth_write(2, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"signal\":%d", cpu,
		    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}
