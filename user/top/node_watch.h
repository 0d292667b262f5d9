/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs of an agent's node, as its stream keeps them current; the agent is not waited for. */
#ifndef TOP_NODE_WATCH_H
#define TOP_NODE_WATCH_H

#include "base/line_stream.h"
#include "run/node_job_row.h"
#include "run/agent_call.h"

#include <stdbool.h>

#define NODE_WATCH_WHY_BYTES 512

struct node_watch {
	const char *agent; /* its socket, not owned; NULL: there is none to ask */
	struct agent_call call;
	bool is_asked, has_answered;
	bool has_ended; /* an agent that had answered, and none has since */
	struct line_stream lines;
	struct node_job_rows rows;
	uint64_t asked_ns; /* CLOCK_MONOTONIC */
	int err;
	char why[NODE_WATCH_WHY_BYTES]; /* "": the rows are current */
};

/* Asks the agent at the socket @agent. */
void node_watch_begin(struct node_watch *w, const char *agent);
/* Readable when node_watch_step() has something to do; -1: it need not be called but now and then.
 */
int node_watch_fd(const struct node_watch *w);
/* Takes what has come; asks again where the agent was not there, or has gone. -ENOMEM. */
int node_watch_step(struct node_watch *w);
void node_watch_done(struct node_watch *w);

#endif
