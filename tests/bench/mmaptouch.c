// SPDX-License-Identifier: BSD-2-Clause
/*
 * N times: mmap of 256 small pages, a write to each, munmap. One page fault per page.
 * Usage: mmaptouch N
 */
#include "bench.h"
#include <sys/mman.h>

#define HELP "mmaptouch N"
#define PAGES 256

int main(int argc, char **argv)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = PAGES * page;
	double start;
	long n;

	if (argc != 2)
		usage(HELP);
	n = number(argv[1], HELP);
	start = now();
	for (long i = 0; i < n; i++) {
		volatile char *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (mem == MAP_FAILED)
			die("mmap");
		/* Fails where the kernel has no huge pages, and then it is not needed. */
		madvise((void *)mem, size, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < size; at += page)
			mem[at] = 1;
		if (munmap((void *)mem, size))
			die("munmap");
	}
	report(now() - start);
	return 0;
}
