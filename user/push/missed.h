/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs that ended while this program did not run, or was killed before it had stored their rows:
 * the agent's history has them. A file in the spool's folder says up to which time rows are
 * complete, and which rows of later jobs were made, so that none is made twice.
 */
#ifndef PUSH_MISSED_H
#define PUSH_MISSED_H

#include "base/line_stream.h"
#include "board/board_intake.h"
#include "run/agent_call.h"

#include <stdint.h>

#define MISSED_ROWS 8192 /* the last ones that are known to have been made */

struct missed {
	int folder;               /* of the spool; not owned; -1: none */
	struct agent_call call;   /* owned; descriptors are -1 while nothing is asked */
	struct line_stream lines; /* owned */
	struct line line;         /* owned */
	struct run_begin begin;   /* of the last meta line */
	bool has_begun;
	bool is_complete; /* all that ended before the stream was opened has a row, as far as the
			   * history goes */
	bool said_why;
	uint64_t again_ns; /* when to ask again; monotonic */
	uint64_t until_ns; /* epoch; rows are complete up to here; 0: unknown */
	uint64_t found;    /* rows that were made, since the history was asked */
	struct {
		uint64_t job, epoch_ns; /* a hash of the job and its start; its end */
	} made[MISSED_ROWS];            /* a ring */
	size_t next;
	int (*end_job)(void *context, const struct job_labels *l, const struct ended_values *values,
		       uint64_t epoch_ns);
	void *context;
};

/* Reads the file. @folder is that of the spool, -1 without one. */
void missed_init(struct missed *m, int folder);
void missed_done(struct missed *m);
/* Notes that the stream was opened: the history is to be asked. */
void missed_begin(struct missed *m);
/*
 * Asks the agent at @socket for the jobs that ended since the time in the file, if its answer is
 * missing and it was not asked within the last minute. Warns if it cannot be asked.
 */
void missed_tick(struct missed *m, const char *socket, uint64_t now_ns);
/* Reads once from m->call.stream_fd, which is readable. */
void missed_read(struct missed *m);
/*
 * Makes a row by m->end_job(), unless that was done. Returns 0 or -ENOMEM. For
 * board_style.end_job(); @context is a struct missed.
 */
int missed_end_job(void *context, const struct job_labels *l, const struct ended_values *values,
		   uint64_t epoch_ns);
/* Writes the file: all rows that were made are on the disk, and the stream is open. */
void missed_note(struct missed *m, uint64_t epoch_ns);

#endif
