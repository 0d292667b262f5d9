/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes through a pipe, in a file of its own: a run is read more than once. */
#ifndef STORE_KEEP_H
#define STORE_KEEP_H

#include <stdint.h>
#include <stdio.h>

#define SOURCE_KEPT_BYTES (1ULL << 30)

/*
 * Reads *@f to its end into a file without a name in /tmp, which takes its place; *@f is closed.
 * -EFBIG: more than @most_bytes came; no more than these were written. Or another negative errno.
 * After an error *@f is NULL.
 */
int source_keep(FILE **f, uint64_t most_bytes);

#endif
