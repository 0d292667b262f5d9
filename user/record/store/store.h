/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps a run in the store, from a thread of its own: whatever the disk does, who puts lines never
 * waits. What the thread cannot keep up with is dropped and counted.
 */
#ifndef RECORD_STORE_STORE_H
#define RECORD_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

struct store;

/* Errors appear later, by store_trouble(). NULL: no memory, or no thread. */
struct store *store_start(const char *path);
/* Copies the lines. */
void store_put(struct store *s, const char *text, size_t length);
/* The run's number there, once it has one; else 0. */
int64_t store_run(struct store *s);
/* Why the run is not kept, or not all of it, in @why; NULL: it is. */
const char *store_trouble(struct store *s, char *why, size_t size);
/* No more lines come: waits until they are kept, but not for long. */
void store_finish(struct store *s);
void store_free(struct store *s);

#endif
