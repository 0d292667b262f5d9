/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket on which processes of the run begin spans: in no file system, so that nothing is left
 * of it, and none of them needs a right to reach it. It is reached from the network namespace that
 * bpfmon is in.
 */
#ifndef ROLES_SPAN_SOCKET_H
#define ROLES_SPAN_SOCKET_H

#include <stddef.h>

/*
 * Opens it, and puts its name into the environment, which the command inherits. Its descriptor; or
 * a negative errno, and the variable is not there: there will be no spans.
 */
int span_socket_open(void);
/*
 * Only chooses its name, at which an agent will listen, and puts it into the environment; @name is
 * without the "@". 0 or a negative errno.
 */
int span_socket_choose(char *name, size_t size);

#endif
