// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child touches MIB MiB of small pages and ends with them mapped. wait4() knows its whole CPU,
 * the child's own clock just before the end all but the teardown of its memory.
 * Usage: teardown MIB
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double *before = memory_map_shared(sizeof(*before));
	struct rusage ru;
	pid_t pid;

	if (argc != 2)
		truth_usage("teardown MIB");
	pid = child_fork();
	if (!pid) {
		touch_mib(truth_number(argv[1]));
		*before = cpu_own_seconds();
		_exit(0);
	}
	errno = 0;
	if (child_reap_usage(pid, &ru))
		truth_fail("the child failed");
	truth_write(2, 0, ru_seconds(&ru),
		    ",\"child_cpu_before_exit_seconds\":%.9f,\"child\":{" RU_FMT "}", *before,
		    RU_ARGS(&ru));
	return 0;
}
