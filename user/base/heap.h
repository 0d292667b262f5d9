/* SPDX-License-Identifier: BSD-2-Clause */
/* A burst of allocations of which little stays. */
#ifndef BPFMON_BASE_HEAP_H
#define BPFMON_BASE_HEAP_H

#include <stddef.h>

/*
 * Makes the heap ready for allocations of some @bytes in all (up to 31 MiB), in huge pages where
 * the kernel gives them: touching such memory 4 KiB at a time costs more than what is done with it.
 */
void heap_expect(size_t bytes);

/* The burst is over: what it has freed goes back to the kernel. */
void heap_settle(void);

#endif
