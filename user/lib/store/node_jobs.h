/* SPDX-License-Identifier: BSD-2-Clause */
/* The jobs of a node, from the lines that its agent sends. */
#ifndef STORE_NODE_JOBS_H
#define STORE_NODE_JOBS_H

#include "run/metric.h"
#include "run/reader.h"
#include "run/stall_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A job of a node as its lines describe it: what it is, and its last sample. */

struct node_job_row {
	char *run, *id, *name;             /* owned */
	char *user, *cgroup, *live_socket; /* owned; NULL: it has none */
	uint64_t start_epoch_ns;
	uint64_t value[NR_METRICS];
	struct metric_set have;
	struct stall_state stall;
};

struct node_job_rows {
	struct node_job_row *all; /* owned, with their texts */
	size_t nr, room;
	char *notices;    /* owned; lines of what the agent does not see; NULL: there is none */
	bool has_history; /* the agent keeps what has ended, as its own line has it */
};

/*
 * Takes a line of the stream of a node; a job that has ended is none of the rows any more.
 * *@is_last: it is the agent's own, which comes after those of all jobs. 0; -EBADMSG: it is no
 * line; -ENOMEM.
 */
int node_jobs_take(struct node_job_rows *rows, const char *text, size_t length, bool *is_last);
/*
 * Takes the lines up to the agent's own, which ends the list of what there is now; @each, unless
 * NULL, gets every line. 0; -ECONNRESET: the end came before; or as node_jobs_take().
 */
int node_jobs_read(struct node_job_rows *rows, FILE *f,
		   void (*each)(enum line_kind kind, const char *line, size_t length));
void node_jobs_done(struct node_job_rows *rows);

#endif
