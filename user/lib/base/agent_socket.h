/* SPDX-License-Identifier: BSD-2-Clause */
/* Client side of the node agent's socket. */
#ifndef BASE_AGENT_SOCKET_H
#define BASE_AGENT_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define AGENT_SOCKET "/run/bpfmon/agent.sock"
#define AGENT_PATIENCE_SECONDS 10 /* how long to wait for an agent that does not answer */
#define AGENT_HANGS                                                                                \
	"the agent has not answered for 10 s: it hangs or is overloaded; restart it (systemctl "   \
	"restart bpfmon-agent), or go without it: sudo bpfmon"

/* Returns true if there is a socket at AGENT_SOCKET. */
bool agent_socket_is_there(void);
/*
 * Connects to the agent at @path. The listening process must be root's: another user could listen
 * there to learn what is run. Returns a descriptor, or a negative errno with one sentence in @why,
 * without a full stop.
 */
int agent_socket_connect(const char *path, char *why, size_t size);
/*
 * For root that is about to become another user: forks a child that stays root, has no other right
 * than to connect to the agent at @path, and does so for each later agent_socket_connect() of this
 * process with any path. It ends with this process. Returns 0 or a negative errno.
 */
int agent_socket_stay_root(const char *path);
/*
 * Returns the descriptor of that child, open across an exec, for agent_socket_use_root() of the
 * executed program; -1 if there is no child.
 */
int agent_socket_of_root(void);
/* Makes agent_socket_connect() use the child. No other process of the user may take it over. */
void agent_socket_use_root(int fd);
/*
 * Connects and waits until the agent has answered a ping. Returns -ETIMEDOUT if it hangs or takes
 * no connection.
 */
int agent_socket_connect_alive(const char *path, char *why, size_t size);
/*
 * Like poll(), but returns 0 after AGENT_PATIENCE_SECONDS. Time in which this process is stopped
 * does not count.
 */
int agent_socket_poll(struct pollfd *p, nfds_t nr);

#endif
