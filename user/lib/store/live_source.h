/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a running run, from its collector: the same as in its files from now on, and on
 * request all live processes at each sample.
 */
#ifndef STORE_LIVE_SOURCE_H
#define STORE_LIVE_SOURCE_H

#include "run/process.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Connects to the run with @socket_name as "live_socket" in its meta line. Returns a non-blocking
 * descriptor that the caller owns: a stream of lines, the meta line first, then the last sample; it
 * ends with the run. @with_processes: each sample is followed by a line of each live process. Read
 * up to LIVE_READ_BYTES at once. On error returns a negative errno, and @why is a sentence without
 * a full stop: -ECONNREFUSED: the run has ended, or is on another host; -EPERM: it is another
 * user's.
 */
int live_open(const char *socket_name, bool with_processes, char *why, size_t size);

#define LIVE_READ_BYTES (64UL << 10)

/* @p and its texts are valid until it returns. Other than 0 ends the look. */
typedef int (*live_look_fn)(void *context, const struct process_sample *p);

/*
 * Passes each process in the last sample of the running run to @fn, and disconnects. @socket_name:
 * "live_socket" of its meta line, NULL if that has none. Returns 0, what @fn returned, -ENOMEM, or
 * an error of live_open(), and @why is a sentence without a full stop then.
 */
int live_look(const char *socket_name, live_look_fn fn, void *context, char *why, size_t size);

#endif
