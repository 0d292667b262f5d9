/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps a run in the store, by a thread of its own: store_put() never waits for the disk. Lines
 * that the thread cannot keep up with are dropped and counted.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

struct store;

/* Later errors are store_trouble()'s. NULL: no memory, or no thread. */
struct store *store_start(const char *path);
/* Queues a copy of the lines. */
void store_put(struct store *s, const char *text, size_t length);
/* The run's number in the store; 0: it has none yet. */
int64_t store_run(struct store *s);
/* Writes to @why, and returns, why the run is not kept, or not whole; NULL: it is. */
const char *store_trouble(struct store *s, char *why, size_t size);
/* After the last line: waits until all lines are kept, but for a few seconds only. */
void store_finish(struct store *s);
void store_free(struct store *s);

#endif
