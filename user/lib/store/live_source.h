/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the lines of a running run from its collector: those written to its files from now on, and
 * on request all live processes at each sample.
 */
#ifndef STORE_LIVE_SOURCE_H
#define STORE_LIVE_SOURCE_H

#include "run/process.h"
#include "run/sample.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Connects to the run whose meta line has @socket_name as "live_socket". Returns a non-blocking
 * descriptor that the caller owns: a stream of lines, first the meta line and the last sample, that
 * ends with the run. With @with_processes a line for each live process follows each sample. Read up
 * to LIVE_READ_BYTES at once. Returns -ECONNREFUSED if the run has ended or is on another host,
 * -EPERM if it is another user's, or another negative errno; @why is then a sentence without a full
 * stop.
 */
int live_open(const char *socket_name, bool with_processes, char *why, size_t size);

#define LIVE_READ_BYTES (64UL << 10)

/*
 * Receives a process; @p and its texts are valid until it returns. A result other than 0 ends the
 * reading.
 */
typedef int (*live_process_fn)(void *context, const struct process_sample *p);

/*
 * Passes each process in the last sample of a running run to @fn, and stores that sample, without
 * its instances, in @last (may be NULL). @socket_name as for live_open(), or NULL if the meta line
 * has none. Returns 0, the result of @fn, -ENOMEM, or an error of
 * live_open(), with @why as there.
 */
int live_read_processes(const char *socket_name, live_process_fn fn, void *context,
			struct sample *last, char *why, size_t size);

#endif
