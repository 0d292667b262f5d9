// SPDX-License-Identifier: BSD-2-Clause
/*
 * A byte goes to a child and back over two pipes, N times. With a CPU given, both processes are
 * pinned to it: then every round is two context switches and nothing else, the hardest case for
 * whatever looks at the scheduler.
 * Usage: pingpong N [CPU]
 */
#include "bench.h"
#include <sched.h>

#define HELP "pingpong N [CPU]"

static void pin(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void get(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("read");
}

static void put(int fd)
{
	if (write(fd, "x", 1) != 1)
		die("write");
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	double start;
	pid_t pid;
	long n;

	if (argc != 2 && argc != 3)
		usage(HELP);
	n = number(argv[1], HELP);
	if (argc == 3)
		pin(strcmp(argv[2], "0") ? number(argv[2], HELP) : 0);
	if (pipe(there) || pipe(back))
		die("pipe");
	pid = xfork();
	if (!pid) {
		for (long i = 0; i <= n; i++) {
			get(there[0]);
			put(back[1]);
		}
		_exit(0);
	}
	/* One round before the clock starts: the child is there. */
	put(there[1]);
	get(back[0]);
	start = now();
	for (long i = 0; i < n; i++) {
		put(there[1]);
		get(back[0]);
	}
	start = now() - start;
	if (reap(pid)) {
		errno = ECHILD;
		die("the child");
	}
	report(start);
	return 0;
}
