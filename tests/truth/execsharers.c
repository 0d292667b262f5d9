// SPDX-License-Identifier: BSD-2-Clause
/*
 * K children hold MIB MiB each, all at the same time. Each then execs a small image, which makes a
 * child that shares its address space (CLONE_VM); both sleep for HOLD_MS.
 * Usage: execsharers K MIB HOLD_MS
 */
#include "truth.h"
#include <sched.h>

static double hold_ms;

static int share(void *arg)
{
	sleep_seconds(hold_ms / 1e3);
	return arg != NULL;
}

static void be_small(void)
{
	char *stack = map_small(65536);
	pid_t pid = clone(share, stack + 65536, CLONE_VM | SIGCHLD, NULL);

	if (pid < 0)
		die("clone");
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
}

/* Returns when all @k hold theirs. */
static void hold(double mib, long k, long *holders)
{
	touch_mib(mib);
	__sync_fetch_and_add(holders, 1);
	while (__sync_fetch_and_add(holders, 0) < k)
		sleep_seconds(0.0002);
}

int main(int argc, char **argv)
{
	double cpu = 0;
	long k, *holders = shared(sizeof(*holders));
	pid_t pid[64];

	if (argc == 3 && !strcmp(argv[1], "small")) {
		hold_ms = number(argv[2]);
		be_small();
		return 0;
	}
	if (argc != 4 || number(argv[1]) > 64)
		usage("execsharers K MIB HOLD_MS");
	k = (long)number(argv[1]);
	hide_truth_out();
	for (long i = 0; i < k; i++) {
		pid[i] = xfork();
		if (pid[i])
			continue;
		hold(number(argv[2]), k, holders);
		execl("/proc/self/exe", "execsharers", "small", argv[3], NULL);
		die("exec");
	}
	for (long i = 0; i < k; i++)
		reap_ok(pid[i], &cpu);
	tell(1 + 2 * k, 0, cpu, NULL);
	return 0;
}
