/* SPDX-License-Identifier: BSD-2-Clause */
/* What an agent is asked for that is written to a stream: jobs of the node, or its history. */
#ifndef RUN_AGENT_CALL_H
#define RUN_AGENT_CALL_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a client wants to know of the history of its node: which runs there are, or the lines of one
 * of them. The answer are lines, and at its end one of kind "history". Whose runs these may be is
 * not in it: the agent has that from the kernel.
 */

#define HISTORY_END "{\"kind\":\"history\"" /* so begins the last line of an answer */

/* As struct run_filter (store/query.h) has them: empty and 0 is whatever it is. */
struct history_query {
	bool lines; /* those of the run @id; else an object for each run */
	uint64_t id;
	char uuid[40];
	char name[130], exact_name[130], job[260], user[66], host[130], command[130], span[130];
	uint32_t state;
	uint64_t since_ns;
};

/* Appends it as an object. */
void history_query_write(struct jsonw *j, const struct history_query *q);
/* -EBADMSG, and @why is a sentence without a full stop; -ENOMEM. */
int history_query_read(struct history_query *q, const char *text, size_t length, char *why,
		       size_t size);

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
