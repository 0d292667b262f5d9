/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests to an agent whose answer is a stream of lines: jobs of the node, or its history. */
#ifndef RUN_AGENT_CALL_H
#define RUN_AGENT_CALL_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A client's query of the node's history: the list of runs, or the lines of one run. The answer is
 * a sequence of lines that ends with one of kind "history". The query names no user: the agent
 * knows from the kernel whose runs the client may see.
 */

#define HISTORY_END "{\"kind\":\"history\"" /* prefix of the last line of an answer */

/* Members as in struct run_filter (store/query.h). An empty text or a 0 matches everything. */
struct history_query {
	/* the lines of run @id; or of each run the meta and summary line; else an object for each
	 */
	bool lines, summaries;
	uint64_t id;
	char uuid[40];
	char name[130], exact_name[130], job[260], user[66], host[130], command[130], span[130];
	uint32_t state;
	uint64_t since_ns, ended_since_ns;
};

/* Appends @q as an object. */
void history_query_write(struct jsonw *j, const struct history_query *q);
/* Returns 0, -ENOMEM, or -EBADMSG with the reason in @why, a sentence without a full stop. */
int history_query_read(struct history_query *q, const char *text, size_t length, char *why,
		       size_t size);

struct agent_call {
	int control_fd; /* owned; closing it ends a stream of live lines */
	int stream_fd;  /* owned; the lines are read from it */
};

/*
 * Requests the lines of all jobs that the caller may see from the agent at @path: with @once those
 * that describe the present state, else all from now on. Blocks for at most AGENT_PATIENCE_SECONDS
 * until the agent answers. Returns 0, or a negative errno with the reason in @why, a sentence
 * without a full stop.
 */
int agent_call_node(struct agent_call *c, const char *path, bool once, char *why, size_t size);
/* Requests only the line of the agent about itself, for any user. Blocks and fails likewise. */
int agent_call_status(struct agent_call *c, const char *path, char *why, size_t size);
/*
 * Requests all lines from now on like agent_call_node(), but does not block: the caller calls
 * agent_call_answer() when control_fd is readable. The stream is empty until then.
 */
int agent_call_begin_node(struct agent_call *c, const char *path, char *why, size_t size);
/* Reads the answer. Returns 0, or closes @c, sets @why and returns a negative errno. */
int agent_call_answer(struct agent_call *c, char *why, size_t size);
/*
 * Requests the lines of one job of the node, with its live processes at each sample, without
 * blocking like agent_call_begin_node(). The last sample is sent at once. @id is the id that
 * `bpfmon jobs` lists, or the name.
 */
int agent_call_begin_job(struct agent_call *c, const char *path, const char *id, char *why,
			 size_t size);
/* Requests stored lines of ended jobs that match @q, to be read within a minute. */
int agent_call_history(struct agent_call *c, const char *path, const struct history_query *q,
		       char *why, size_t size);
void agent_call_done(struct agent_call *c);

#endif
