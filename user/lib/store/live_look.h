/* SPDX-License-Identifier: BSD-2-Clause */
/* One look at the live processes of a run that is under way. */
#ifndef STORE_LIVE_LOOK_H
#define STORE_LIVE_LOOK_H

#include "run/process.h"

#include <stddef.h>

/* @p and its texts are in use until it returns. Other than 0 ends the look. */
typedef int (*live_look_fn)(void *context, const struct process_sample *p);

/*
 * Gives each process that the run with @socket_name as "live_socket" has at its last sample, and
 * disconnects. NULL: the meta line has none. 0, or what @fn returned; -ENOMEM; or what live_open()
 * returns, and @why is a sentence without a full stop.
 */
int live_look(const char *socket_name, live_look_fn fn, void *context, char *why, size_t size);

#endif
