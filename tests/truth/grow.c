// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child is born with INHERITED MiB of its parent's, touches MIB MiB itself, and execs PATH. With
 * "shrink" it gives back what it inherited before that.
 * Usage: grow INHERITED MIB [shrink] PATH [ARGS]
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double cpu = 0, inherited, mib;
	int shrinks;
	char *held;
	pid_t pid;

	shrinks = argc > 3 && !strcmp(argv[3], "shrink");
	if (argc < 4 + shrinks)
		truth_usage("grow INHERITED MIB [shrink] PATH [ARGS]");
	inherited = truth_number(argv[1]);
	mib = truth_number(argv[2]);
	truth_out_hide();
	held = inherited > 0 ? touch_mib(inherited) : NULL;
	pid = child_fork();
	if (!pid) {
		if (shrinks && munmap(held, (size_t)(inherited * 1048576)))
			truth_fail("munmap");
		touch_mib(mib);
		execv(argv[3 + shrinks], argv + 3 + shrinks);
		truth_fail("exec of %s", argv[3 + shrinks]);
	}
	child_reap_ok(pid, &cpu);
	truth_write(2, 0, cpu, ",\"child\":%d", pid);
	return 0;
}
