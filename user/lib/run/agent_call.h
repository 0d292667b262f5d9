/* SPDX-License-Identifier: BSD-2-Clause */
/* What an agent is asked for that is written to a stream: jobs of the node, or its history. */
#ifndef RUN_AGENT_CALL_H
#define RUN_AGENT_CALL_H

#include "run/history_query.h"

#include <stdbool.h>
#include <stddef.h>

struct agent_call {
	int control_fd; /* owned; what comes from now on ends when it is closed */
	int stream_fd;  /* owned; the lines can be read there */
};

/*
 * Asks the agent at @path for the lines of all jobs that the caller may see: with @once those that
 * describe what there is now, else from now on. Waits for its answer, for some seconds. 0; or a
 * negative errno, and @why is a sentence without a full stop.
 */
int agent_call_node(struct agent_call *c, const char *path, bool once, char *why, size_t size);
/*
 * The same from now on, without waiting: agent_call_answer() is to be called when control_fd is
 * readable. Until then nothing is written to the stream.
 */
int agent_call_begin_node(struct agent_call *c, const char *path, char *why, size_t size);
/* Takes the answer. 0; or a negative errno, @why, and @c is done. */
int agent_call_answer(struct agent_call *c, char *why, size_t size);
/*
 * The same as agent_call_begin_node() for one job of the node, from now on, with its live processes
 * at each sample; the last sample comes at once. @id: as `bpfmon jobs` lists it, or its name.
 */
int agent_call_begin_job(struct agent_call *c, const char *path, const char *id, char *why,
			 size_t size);
/* The same for what is kept of ended jobs: the answer to @q, which is to be read in a minute. */
int agent_call_history(struct agent_call *c, const char *path, const struct history_query *q,
		       char *why, size_t size);
void agent_call_done(struct agent_call *c);

#endif
