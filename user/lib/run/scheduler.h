/* SPDX-License-Identifier: BSD-2-Clause */
/* Environment variables about the job, the container or a program's settings: those of one table,
 * and no other. */
#ifndef RUN_SCHEDULER_H
#define RUN_SCHEDULER_H

#include "run/meta.h"

struct scheduler_row {
	const char *name;
	const char *only_with; /* counts only if this one is set, too: the name is a common one */
	bool is_job;           /* the scheduler's id of the job */
	bool may_hold_args;    /* left out with --no-args: its default is the command line */
};

size_t scheduler_nr_rows(void);
const struct scheduler_row *scheduler_row(size_t i);
/* Adds to @m those that are set and not empty; a value is cut to VARIABLE_BYTES, between
 * characters.
 */
void scheduler_read(bool no_args, struct meta *m);
/* The scheduler's id of the job that this process belongs to, not owned; NULL: there is none. */
const char *scheduler_job_id(void);
/*
 * The variable by which srun or mpirun says that this process is one of several on this node, and
 * not the first; NULL: there is none.
 */
const char *scheduler_later_rank(void);

#endif
