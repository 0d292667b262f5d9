// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child that holds MIB MiB becomes SCHED_IDLE and ends: giving back its memory takes as long as
 * the others leave it no time. Two others on the same CPU then touch MIB each, and hold it until
 * the first is gone.
 * Usage: slowexit MIB
 */
#include "truth.h"
#include <sched.h>

static void on_first_cpu(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static void wait_for(int fd)
{
	char byte;

	if (read(fd, &byte, 1) < 0)
		die("read");
}

int main(int argc, char **argv)
{
	const struct sched_param none = {0};
	pid_t first, others[2];
	int ready[2], gone[2];
	double cpu = 0, mib;

	if (argc != 2)
		usage("slowexit MIB");
	mib = number(argv[1]);
	if (pipe(ready) || pipe(gone))
		die("pipe");
	on_first_cpu();
	first = xfork();
	if (!first) {
		touch_mib(mib);
		if (sched_setscheduler(0, SCHED_IDLE, &none))
			die("sched_setscheduler");
		close(ready[1]);
		_exit(0);
	}
	close(ready[1]);
	wait_for(ready[0]);
	sleep_seconds(0.003); /* it exits; its memory goes later */
	for (int i = 0; i < 2; i++) {
		others[i] = xfork();
		if (others[i])
			continue;
		close(gone[1]);
		touch_mib(mib);
		wait_for(gone[0]);
		_exit(0);
	}
	reap_ok(first, &cpu);
	close(gone[1]);
	reap_ok(others[0], &cpu);
	reap_ok(others[1], &cpu);
	tell(4, 0, cpu, NULL);
	return 0;
}
