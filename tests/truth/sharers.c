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

static int hold(void *unused)
{
	(void)unused;
	sleep_seconds(hold_seconds);
	_exit(0);
}

static pid_t child(int shares_vm)
{
	char *stack;
	pid_t pid;

	if (!shares_vm) {
		pid = xfork();
		if (!pid)
			hold(NULL);
		return pid;
	}
	stack = map_small(STACK_BYTES);
	pid = clone(hold, stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL);
	if (pid < 0)
		die("clone");
	return pid;
}

int main(int argc, char **argv)
{
	int shares_vm = argc == 5 && !strcmp(argv[4], "vm");
	double cpu = 0, mib;
	long n;

	if (argc < 4 || argc > 5 || (argc == 5 && !shares_vm))
		usage("sharers MIB N HOLD_MS [vm]");
	mib = number(argv[1]);
	n = number(argv[2]);
	hold_seconds = number(argv[3]) / 1e3;
	touch_mib(mib);
	for (long i = 0; i < n; i++)
		child(shares_vm);
	for (long i = 0; i < n; i++)
		reap_ok(-1, &cpu);
	tell(1 + n, 0, cpu, ",\"touched_kb\":%.0f", mib * 1024);
	return 0;
}
