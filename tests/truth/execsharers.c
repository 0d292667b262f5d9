// SPDX-License-Identifier: BSD-2-Clause
/*
 * K children hold MIB MiB each, all at the same time. Each then execs a small image, which makes a
 * child that shares its address space (CLONE_VM); both sleep for HOLD_MS.
 * Usage: execsharers K MIB HOLD_MS
 */
#include "truth.h"
#include <sched.h>

static double hold_ms;

static int sharer_run(void *arg)
{
	sleep_seconds(hold_ms / 1e3);
	return arg != NULL;
}

static void small_image_run(void)
{
	char *stack = memory_map_small(65536);
	pid_t pid = clone(sharer_run, stack + 65536, CLONE_VM | SIGCHLD, NULL);

	if (pid < 0)
		truth_fail("clone");
	if (waitpid(pid, NULL, 0) != pid)
		truth_fail("waitpid");
}

/* Returns when all @k hold theirs. */
static void memory_hold_with_others(double mib, long k, long *holders)
{
	touch_mib(mib);
	__sync_fetch_and_add(holders, 1);
	while (__sync_fetch_and_add(holders, 0) < k)
		sleep_seconds(0.0002);
}

int main(int argc, char **argv)
{
	double cpu = 0;
	long k, *holders = memory_map_shared(sizeof(*holders));
	pid_t pid[64];

	if (argc == 3 && !strcmp(argv[1], "small")) {
		hold_ms = truth_number(argv[2]);
		small_image_run();
		return 0;
	}
	if (argc != 4 || truth_number(argv[1]) > 64)
		truth_usage("execsharers K MIB HOLD_MS");
	k = (long)truth_number(argv[1]);
	truth_out_hide();
	for (long i = 0; i < k; i++) {
		pid[i] = child_fork();
		if (pid[i])
			continue;
		memory_hold_with_others(truth_number(argv[2]), k, holders);
		execl("/proc/self/exe", "execsharers", "small", argv[3], NULL);
		truth_fail("exec");
	}
	for (long i = 0; i < k; i++)
		child_reap_ok(pid[i], &cpu);
	truth_write(1 + 2 * k, 0, cpu, NULL);
	return 0;
}
