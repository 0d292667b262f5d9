// SPDX-License-Identifier: BSD-2-Clause
/*
 * Touches MIB MiB of small pages and then has N children, which share them for HOLD_MS milliseconds
 * and end: by fork, each with page tables of its own (the default), or by clone(CLONE_VM), in one
 * address space (vm). With grow there are N more after those, and it touches as much again.
 * Usage: sharers MIB N HOLD_MS [vm [grow]]
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
	int shares_vm = argc >= 5 && !strcmp(argv[4], "vm");
	int turns = argc == 6 && !strcmp(argv[5], "grow") ? 2 : 1;
	double cpu = 0, mib;
	long n;

	if (argc < 4 || argc != 4 + shares_vm + turns - 1)
		truth_usage("sharers MIB N HOLD_MS [vm [grow]]");
	mib = truth_number(argv[1]);
	n = truth_number(argv[2]);
	hold_seconds = truth_number(argv[3]) / 1e3;
	for (int turn = 0; turn < turns; turn++) {
		touch_mib(mib);
		for (long i = 0; i < n; i++)
			sharer_begin(shares_vm);
		for (long i = 0; i < n; i++)
			child_reap_ok(-1, &cpu);
	}
	if (turns > 1)
		touch_mib(mib);
	truth_write(1 + n * turns, 0, cpu, ",\"touched_kb\":%.0f", mib * (turns > 1 ? 3 : 1) * 1024);
	return 0;
}
