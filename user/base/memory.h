/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices each allocation that fails, whatever its caller makes of it: the linker puts what is here
 * between our code and the C library (WRAPPED in the Makefile), jansson and SQLite allocate through
 * memory_begin(). So that output that lacks something for want of memory is not taken for a whole
 * one, it is enough to ask once, at its end.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Before anything is done with jansson or SQLite. A negative errno. */
int memory_begin(void);
void memory_init_jansson(void);
/* One more. */
void memory_count_failure(void);
/* How many allocations of this process have failed. */
size_t memory_failures(void);
/* The same of this thread alone. */
size_t memory_failures_of_thread(void);
/* Whether any of this process has failed. */
bool memory_was_short(void);

#endif
