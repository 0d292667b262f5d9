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
#include <sys/types.h>

/* A job, from its meta line and last sample. */

struct node_job_row {
	char *run, *id, *name;             /* owned */
	char *user, *cgroup, *live_socket; /* owned; may be NULL */
	char *title;                       /* owned; name that people gave to it; NULL: unknown */
	uint64_t start_epoch_ns;
	uint64_t memory_max_bytes, cpu_max_milli, cpu_request_milli; /* 0: none, or unknown */
	uint64_t value[NR_METRICS];
	struct metric_set have;
	struct stall_state stall;
};

struct node_job_rows {
	struct node_job_row *all; /* owned */
	size_t nr, room;
	char *notices;    /* owned; lines about what the agent cannot measure; may be NULL */
	bool has_history; /* the agent stores ended jobs */
};

/*
 * Applies a line of the agent's stream. The row of a job is removed when it ends. *@is_last is set
 * for the agent's own line, which follows those of all jobs. Returns 0, -EBADMSG for an invalid
 * line, or -ENOMEM.
 */
int node_jobs_take(struct node_job_rows *rows, const char *text, size_t length, bool *is_last);
/*
 * Applies lines up to the agent's own, which ends the list of current jobs, and passes each line to
 * @each (may be NULL). Returns 0, -ECONNRESET if the stream ends before, or an error of
 * node_jobs_take().
 */
int node_jobs_read(struct node_job_rows *rows, FILE *f,
		   void (*each)(enum line_kind kind, const char *line, size_t length));
void node_jobs_done(struct node_job_rows *rows);

/* Replaces *@best, which may be NULL, by a job further inside of the node that contains the cgroup
 * @path. */
void job_match_cgroup(const struct node_job_rows *jobs, const char *path,
		      const struct node_job_row **best);
/* The same with all cgroups of the process, one per hierarchy. Returns 0 or a negative errno. */
int job_match_process(const struct node_job_rows *jobs, pid_t pid,
		      const struct node_job_row **best);

#endif
