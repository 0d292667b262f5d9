// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child that holds MIB MiB becomes SCHED_IDLE and ends: giving back its memory takes as long as
 * the others leave it no time. Two others on the same CPU then touch MIB each, and hold it until
 * the first is gone.
 * Usage: slowexit MIB
 */
#include "truth.h"
#include <sched.h>

static void cpu_bind_first(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		truth_fail("sched_getaffinity");
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		truth_fail("sched_setaffinity");
}

static void pipe_wait(int fd)
{
	char byte;

	if (read(fd, &byte, 1) < 0)
		truth_fail("read");
}

int main(int argc, char **argv)
{
	const struct sched_param none = {0};
	pid_t first, others[2];
	int ready[2], gone[2];
	double cpu = 0, mib;

	if (argc != 2)
		truth_usage("slowexit MIB");
	mib = truth_number(argv[1]);
	if (pipe(ready) || pipe(gone))
		truth_fail("pipe");
	cpu_bind_first();
	first = child_fork();
	if (!first) {
		touch_mib(mib);
		if (sched_setscheduler(0, SCHED_IDLE, &none))
			truth_fail("sched_setscheduler");
		close(ready[1]);
		_exit(0);
	}
	close(ready[1]);
	pipe_wait(ready[0]);
	sleep_seconds(0.003); /* it exits; its memory goes later */
	for (int i = 0; i < 2; i++) {
		others[i] = child_fork();
		if (others[i])
			continue;
		close(gone[1]);
		touch_mib(mib);
		pipe_wait(gone[0]);
		_exit(0);
	}
	child_reap_ok(first, &cpu);
	close(gone[1]);
	child_reap_ok(others[0], &cpu);
	child_reap_ok(others[1], &cpu);
	truth_write(4, 0, cpu, NULL);
	return 0;
}
