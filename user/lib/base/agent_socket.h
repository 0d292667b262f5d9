/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket of the node agent, as its clients see it. */
#ifndef BASE_AGENT_SOCKET_H
#define BASE_AGENT_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define AGENT_SOCKET "/run/bpfmon/agent.sock"
#define AGENT_PATIENCE_SECONDS 10 /* with an agent that does not answer at all */
#define AGENT_HANGS                                                                                \
	"the agent has not answered for 10 s: it hangs or is overloaded; restart it (systemctl "   \
	"restart bpfmon-agent), or go without it: sudo bpfmon"

/* Whether there is a socket at the usual place. */
bool agent_socket_is_there(void);
/*
 * Connects to the agent at @path, of which root must be the owner: another user could put a socket
 * there that learns what is run. A descriptor; or a negative errno, and @why is a sentence without
 * a full stop.
 */
int agent_socket_connect(const char *path, char *why, size_t size);
/*
 * The same, and waits until that agent has answered something. -ETIMEDOUT: it hangs, or takes no
 * connection.
 */
int agent_socket_connect_alive(const char *path, char *why, size_t size);
/*
 * Waits for something to read from one of the @nr descriptors of @p: as poll() does, but returns 0
 * after AGENT_PATIENCE_SECONDS. While this process does not run either, that time does not pass.
 */
int agent_socket_poll(struct pollfd *p, nfds_t nr);

#endif
