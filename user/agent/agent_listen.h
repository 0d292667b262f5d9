/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket of the agent, and its configuration when it is read again. */
#ifndef AGENT_AGENT_LISTEN_H
#define AGENT_AGENT_LISTEN_H

#include <stddef.h>

struct agent;

/*
 * The socket at @path, in a folder that root alone may change, for all users to connect; or the one
 * that the service manager has passed. A descriptor; or a negative errno, and @why is a sentence
 * without a full stop.
 */
int agent_listen(const char *path, char *why, size_t size);
/*
 * Reads the configuration of @a again: what it has for clients, limits and rules holds from now on;
 * socket, hierarchy and max_tasks need a restart. 0; or a negative errno, and nothing has changed.
 */
int agent_configure_again(struct agent *a, char *why, size_t size);

#endif
