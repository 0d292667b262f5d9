/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agent with one owner: it tracks the machine like any other, but has no socket in the file
 * system, and ends with its owner. The programs in the kernel are thus loaded once for many runs.
 */
#ifndef AGENT_PRIVATE_H
#define AGENT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct private_agent {
	pid_t pid;
	int fd; /* to the agent, which lives as long as this is open */
};

struct private_options {
	uint64_t interval_ns; /* of the node's own samples, which are not read */
	bool net, io_kinds;   /* clients may ask for socket traffic and for I/O by kind of file */
	bool verbose;
};

/*
 * Starts the agent in a process and session of its own and waits until it tracks all tasks. Needs
 * root. Returns 0, or a negative errno that has been logged.
 */
int private_agent_start(struct private_agent *p, const struct private_options *o);
/*
 * Returns a connection as agent_socket_connect() does, which the caller closes, or a negative
 * errno.
 */
int private_agent_connect(const struct private_agent *p);
/* Ends the agent and waits for its exit. */
void private_agent_end(struct private_agent *p);

#endif
