/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs that ended while this program did not run, or was killed before it had stored their rows:
 * the agent's history has them. A file in the spool's folder says up to which time rows are
 * complete. A row that was already sent is the same line again.
 */
#ifndef PUSH_MISSED_H
#define PUSH_MISSED_H

#include "base/line_stream.h"
#include "board/board_intake.h"
#include "run/agent_call.h"

#include <stdint.h>

struct missed {
	int folder;               /* of the spool; not owned; -1: none */
	struct agent_call call;   /* owned; descriptors are -1 while nothing is asked */
	struct line_stream lines; /* owned */
	struct line line;         /* owned */
	struct run_begin begin;   /* of the last meta line */
	bool has_begun;
	uint64_t until_ns; /* epoch; rows are complete up to here; 0: unknown */
	uint64_t found;    /* in the answer */
	int (*end_job)(void *context, const struct job_labels *l, const struct ended_values *values,
		       uint64_t epoch_ns);
	void *context;
};

/* Reads the file. @folder is that of the spool, -1 without one. */
void missed_init(struct missed *m, int folder);
void missed_done(struct missed *m);
/*
 * Asks the agent at @socket for the jobs that ended since the time in the file. Warns if it cannot
 * be asked. Does nothing if the time is unknown.
 */
void missed_ask(struct missed *m, const char *socket);
/* Reads once from m->call.stream_fd, which is readable. */
void missed_read(struct missed *m);
/*
 * Notes that all rows are stored that came from the stream, which is open, unless an answer is
 * awaited.
 */
void missed_note(struct missed *m, uint64_t epoch_ns);

#endif
