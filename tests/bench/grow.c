// SPDX-License-Identifier: BSD-2-Clause
/*
 * Grows by so many MB a second until it is ended, a page after the other, as far as the machine
 * keeps up.
 * Usage: grow MB_A_SECOND
 */
#include "bench.h"
#include <sys/mman.h>

#define HELP "grow MB_A_SECOND"
#define MOST (16UL << 30)
#define MB 1e6

int main(int argc, char **argv)
{
	size_t page = sysconf(_SC_PAGESIZE), at = 0;
	double rate, start;
	volatile char *mem;

	if (argc != 2)
		usage(HELP);
	rate = (double)number(argv[1], HELP) * MB;
	mem = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (mem == MAP_FAILED)
		die("mmap");
	madvise((void *)mem, MOST, MADV_NOHUGEPAGE);
	start = now();
	while (at < MOST)
		for (size_t due = (size_t)(rate * (now() - start)); at < due && at < MOST;
		     at += page)
			mem[at] = 1;
	fprintf(stderr, "bench: grow: %lu MB, and nothing has ended it\n",
		(unsigned long)(MOST / MB));
	return 1;
}
