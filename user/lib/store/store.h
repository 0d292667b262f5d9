/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a run to the store in a thread, so that the caller never waits for the disk. Lines that
 * the thread cannot keep up with are dropped and counted.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

struct store;

/*
 * Starts the thread. Returns NULL without memory or a thread; store_describe_failure() reports
 * later errors.
 * @path must live as long.
 */
struct store *store_start(const char *path);
/* Queues a copy of the lines. */
void store_put(struct store *s, const char *text, size_t length);
/* Returns the run's number in the store; 0 if it has none yet. */
int64_t store_run(struct store *s);
/* Writes to @why why the run is not stored, or incomplete, and returns @why; NULL if neither. */
const char *store_describe_failure(struct store *s, char *why, size_t size);
/* Waits until all lines are stored, a few seconds at most. Call it after the last line. */
void store_finish(struct store *s);
void store_free(struct store *s);

#endif
