// SPDX-License-Identifier: BSD-2-Clause
#include "base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define HEADER 64                     /* more than malloc adds to a chunk */
#define DEFAULT_THRESHOLD (128 << 10) /* mallopt(3) */

void heap_prepare(size_t bytes)
{
	size_t before, whole;
	char *all;

	/* one chunk at the end of the heap, which stays there when it is freed: later allocations
	 * come from it */
	mallopt(M_MMAP_THRESHOLD, (int)bytes + HEADER);
	mallopt(M_TRIM_THRESHOLD, (int)bytes * 2);
	all = malloc(bytes);
	if (!all)
		return;
	before = -(uintptr_t)all % HUGE_PAGE;
	whole = bytes > before ? (bytes - before) / HUGE_PAGE * HUGE_PAGE : 0;
	if (whole)
		madvise(all + before, whole, MADV_HUGEPAGE);
	free(all);
}

void heap_settle(void)
{
	mallopt(M_MMAP_THRESHOLD, DEFAULT_THRESHOLD);
	mallopt(M_TRIM_THRESHOLD, DEFAULT_THRESHOLD);
	malloc_trim(0);
}
