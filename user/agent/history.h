/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The historian: keeps the jobs of the node, and the runs of its users, in a store. It is a child
 * of the agent from before any right was used: it has a user of its own, no capability, and two
 * sockets. The agent never opens the store and never waits for it.
 */
#ifndef AGENT_HISTORY_H
#define AGENT_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct history_options {
	const char *store; /* an absolute path, in a folder of its own */
	uint64_t keep_ns;  /* runs that ended so long ago are removed */
	uint64_t keep_bytes;
	uint64_t min_ns; /* shorter runs are not kept */
};

/* The ends that the agent has; owned. */
struct history {
	int stream_fd;  /* what is written there is kept: lines of the node's stream */
	int control_fd; /* packets, as base/message.h has them */
};

/*
 * Starts the historian of @o, whose texts have to live as long as this process. For a process
 * without threads that is root, or whose user may write to the store. 0; or a negative errno, and
 * @why is a sentence without a full stop.
 */
int history_start(const struct history_options *o, struct history *h, char *why, size_t size);
/* No line comes any more: waits until the rest is kept, for a few seconds at the longest. */
void history_end(struct history *h);

#endif
