/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a run that is under way, from its own collector: what is written into its files from
 * now on, and on request all live processes at each sample.
 */
#ifndef STORE_LIVE_SOURCE_H
#define STORE_LIVE_SOURCE_H

#include "run/process.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Begins to listen to the run of which the meta line has @socket_name as "live_socket". Returns a
 * descriptor, the caller's, that does not block: what is read from it, put together, are lines, the
 * meta line first, then the last sample; its end is that of the run. @with_processes: behind each
 * sample comes a line of each live process. A read of up to LIVE_READ_BYTES loses nothing. A
 * negative errno, and @why is a sentence without a full stop: -ECONNREFUSED: the run has ended, or
 * is on another host; -EPERM: it is another user's.
 */
int live_open(const char *socket_name, bool with_processes, char *why, size_t size);

#define LIVE_READ_BYTES (64UL << 10)

/* One look at the live processes of a run that is under way. */

/* @p and its texts are in use until it returns. Other than 0 ends the look. */
typedef int (*live_look_fn)(void *context, const struct process_sample *p);

/*
 * Gives each process that the run with @socket_name as "live_socket" has at its last sample, and
 * disconnects. NULL: the meta line has none. 0, or what @fn returned; -ENOMEM; or what live_open()
 * returns, and @why is a sentence without a full stop.
 */
int live_look(const char *socket_name, live_look_fn fn, void *context, char *why, size_t size);

#endif
