/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agent of one owner: it follows the machine as another, but has no socket that others find, and
 * ends with its owner. So the programs in the kernel are loaded once for many runs.
 */
#ifndef AGENT_PRIVATE_H
#define AGENT_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct private_agent {
	pid_t pid;
	int fd; /* to it; who has it keeps the agent alive */
};

struct private_options {
	uint64_t interval_ns; /* of the node's own samples, which are not read */
	bool net, io_kinds;   /* what sockets move, and kinds of files, may be asked for */
	bool verbose;
};

/*
 * Starts it, in a process and a session of its own, and waits until it follows all tasks. Needs
 * root. 0; or a negative errno, which has been reported.
 */
int private_agent_start(struct private_agent *p, const struct private_options *o);
/* A connection to it, as agent_socket_connect() makes one, to be closed; or a negative errno. */
int private_agent_connect(const struct private_agent *p);
/* Ends it, and waits for that. */
void private_agent_end(struct private_agent *p);

#endif
