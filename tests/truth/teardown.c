// SPDX-License-Identifier: BSD-2-Clause
/*
 * A child touches MIB MiB of small pages and ends with them mapped. wait4() knows its whole CPU,
 * the child's own clock just before the end all but the teardown of its memory.
 * Usage: teardown MIB
 */
#include "truth.h"

int main(int argc, char **argv)
{
	double *before = shared(sizeof(*before));
	struct rusage ru;
	pid_t pid;

	if (argc != 2)
		usage("teardown MIB");
	pid = xfork();
	if (!pid) {
		touch_mib(number(argv[1]));
		*before = own_cpu();
		_exit(0);
	}
	errno = 0;
	if (reap_ru(pid, &ru))
		die("the child failed");
	tell(2, 0, ru_seconds(&ru),
	     ",\"child_cpu_before_exit_seconds\":%.9f,\"child\":{" RU_FMT "}", *before,
	     RU_ARGS(&ru));
	return 0;
}
