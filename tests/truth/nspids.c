// SPDX-License-Identifier: BSD-2-Clause
/*
 * N children, one after the other, each burns MS milliseconds of CPU. Writes their pids as getpid()
 * has them, the parent's first: those of the pid namespace they are in.
 * Usage: nspids N MS
 */
#include "truth.h"

#define MOST 200

int main(int argc, char **argv)
{
	char text[MOST * 12] = "";
	double cpu = 0;
	size_t len = 0;
	pid_t *own;
	long n;

	if (argc != 3 || truth_number(argv[1]) > MOST - 1)
		truth_usage("nspids N MS, with N < 200");
	n = truth_number(argv[1]);
	own = memory_map_shared((n + 1) * sizeof(*own));
	own[0] = getpid();
	for (long i = 1; i <= n; i++) {
		pid_t pid = child_fork();

		if (!pid) {
			own[i] = getpid();
			spin_ms(truth_number(argv[2]));
			_exit(0);
		}
		child_reap_ok(pid, &cpu);
	}
	for (long i = 0; i <= n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%d", i ? "," : "", own[i]);
	truth_write(1 + n, 0, cpu, ",\"children_cpu_seconds\":%.6f,\"own_pids\":[%s]", cpu, text);
	return 0;
}
