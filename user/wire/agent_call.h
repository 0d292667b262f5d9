/* SPDX-License-Identifier: BSD-2-Clause */
/* What an agent is asked for that is written to a stream: jobs of the node, or its history. */
#ifndef WIRE_AGENT_CALL_H
#define WIRE_AGENT_CALL_H

#include "wire/history_query.h"

#include <stdbool.h>
#include <stddef.h>

struct agent_call {
	int control_fd; /* owned; it may be closed after the answer */
	int stream_fd;  /* owned; the lines can be read there */
};

/*
 * Asks the agent at @path for the lines of all jobs that the caller may see: with @once those that
 * describe what there is now, else from now on. Waits for its answer. 0; or a negative errno, and
 * @why is a sentence without a full stop.
 */
int agent_call_node(struct agent_call *c, const char *path, bool once, char *why, size_t size);
/* The same for what is kept of ended jobs: the answer to @q, which is to be read in a minute. */
int agent_call_history(struct agent_call *c, const char *path, const struct history_query *q,
		       char *why, size_t size);
void agent_call_done(struct agent_call *c);

#endif
