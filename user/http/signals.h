/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a server, which waits for them beside its work. */
#ifndef HTTP_SIGNALS_H
#define HTTP_SIGNALS_H

/*
 * From here on SIGTERM, SIGINT and SIGHUP are read from a descriptor, which is returned, in all
 * threads that are started later, and SIGPIPE is ignored. Or a negative errno.
 */
int http_open_signals(void);

#endif
