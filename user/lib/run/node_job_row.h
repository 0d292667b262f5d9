/* SPDX-License-Identifier: BSD-2-Clause */
/* A job of a node as its lines describe it: what it is, and its last sample. */
#ifndef RUN_NODE_JOB_ROW_H
#define RUN_NODE_JOB_ROW_H

#include "run/metric.h"
#include "run/stall_state.h"

#include <stddef.h>

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

#endif
