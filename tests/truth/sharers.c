// SPDX-License-Identifier: BSD-2-Clause
/*
 * Touches MIB MiB of small pages and then has N children, which share them for HOLD_MS milliseconds
 * and end: by fork, each with page tables of its own (the default), or by clone(CLONE_VM), in one
 * address space (vm).
 * Usage: sharers MIB N HOLD_MS [vm]
 */
#include "truth.h"
#include <sched.h>

#define STACK_BYTES 65536

static double hold_seconds;

static int sharer_hold(void *unused)
{
	(void)unused;
	sleep_seconds(hold_seconds);
	_exit(0);
}

static pid_t sharer_begin(int shares_vm)
{
	char *stack;
	pid_t pid;

	if (!shares_vm) {
		pid = child_fork();
		if (!pid)
			sharer_hold(NULL);
		return pid;
	}
	stack = memory_map_small(STACK_BYTES);
	pid = clone(sharer_hold, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		truth_fail("clone");
	return pid;
}

int main(int argc, char **argv)
{
	int shares_vm = argc == 5 && !strcmp(argv[4], "vm");
	double cpu = 0, mib;
	long n;

	if (argc < 4 || argc > 5 || (argc == 5 && !shares_vm))
		truth_usage("sharers MIB N HOLD_MS [vm]");
	mib = truth_number(argv[1]);
	n = truth_number(argv[2]);
	hold_seconds = truth_number(argv[3]) / 1e3;
	touch_mib(mib);
	for (long i = 0; i < n; i++)
		sharer_begin(shares_vm);
	for (long i = 0; i < n; i++)
		child_reap_ok(-1, &cpu);
	truth_write(1 + n, 0, cpu, ",\"touched_kb\":%.0f", mib * 1024);
	return 0;
}
