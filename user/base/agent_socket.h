/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket of the node agent, as its clients see it. */
#ifndef BASE_AGENT_SOCKET_H
#define BASE_AGENT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define AGENT_SOCKET "/run/bpfmon/agent.sock"

/* Whether there is a socket at the usual place. */
bool agent_socket_is_there(void);
/*
 * Connects to the agent at @path, of which root must be the owner: another user could put a socket
 * there that learns what is run. A descriptor; or a negative errno, and @why is a sentence without
 * a full stop.
 */
int agent_socket_connect(const char *path, char *why, size_t size);

#endif
