/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts each allocation that fails, however its caller handles it: the linker puts these wrappers
 * between bpfmon's code and the C library (WRAPPED in the Makefile), jansson and SQLite allocate
 * through memory_init(). One check at the end of an output is then enough to know whether it is
 * incomplete for lack of memory.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* To be called before any use of jansson or SQLite. 0, or a negative errno. */
int memory_init(void);
/* The part of memory_init() that is jansson's. */
void memory_init_jansson(void);
/* Counts a failed allocation of the calling thread. */
void memory_count_failure(void);
/* The number of allocations of this process that have failed. */
size_t memory_failures(void);
/* The same of this thread alone. */
size_t memory_failures_of_thread(void);
/* Whether any of this process has failed. */
bool memory_has_failed(void);

#endif
