/* SPDX-License-Identifier: BSD-2-Clause */
/* Prepares the heap for a burst of allocations that are mostly freed again. */
#ifndef BPFMON_BASE_HEAP_H
#define BPFMON_BASE_HEAP_H

#include <stddef.h>

/*
 * Reserves room for allocations of about @bytes in total (up to 31 MiB), in huge pages where the
 * kernel has them: page faults of 4 KiB each would cost more than the work on that memory.
 */
void heap_prepare(size_t bytes);

/* Ends the burst: returns to the kernel what was freed. */
void heap_settle(void);

#endif
