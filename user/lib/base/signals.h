/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a long-running program, or reload it, which waits for them beside its work.
 */
#ifndef BASE_SIGNALS_H
#define BASE_SIGNALS_H

#include <stdbool.h>

/*
 * From here on SIGTERM, SIGINT and SIGHUP, and SIGQUIT if @takes_quit, are read from a descriptor
 * that does not block, which is returned, in all threads that are started later, and SIGPIPE is
 * ignored. Or a negative errno.
 */
int signals_take(bool takes_quit);

#endif
