// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps N anonymous small pages and writes into each once: N minor faults, counted by getrusage()
 * around just that, and for the whole process.
 * Usage: faults N
 */
#include "truth.h"

int main(int argc, char **argv)
{
	struct rusage before, after, end;
	size_t size;
	long n;
	char *p;

	if (argc != 2)
		truth_usage("faults N");
	n = truth_number(argv[1]);
	size = n * sysconf(_SC_PAGESIZE);
	p = memory_map_small(size);
	getrusage(RUSAGE_SELF, &before);
	getrusage(RUSAGE_SELF, &after); /* the stack pages of both are there now */
	getrusage(RUSAGE_SELF, &before);
	touch_pages(p, size);
	getrusage(RUSAGE_SELF, &after);
	getrusage(RUSAGE_SELF, &end);
	truth_write(1, 0, 0,
		    ",\"pages\":%ld,\"minflt_delta\":%ld,\"minflt_total\":%ld,\"majflt_total\":%ld",
		    n, after.ru_minflt - before.ru_minflt, end.ru_minflt, end.ru_majflt);
	return 0;
}
