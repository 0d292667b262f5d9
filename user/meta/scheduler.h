/* SPDX-License-Identifier: BSD-2-Clause */
/* Environment variables that tell of the job, the container or what a program was set to: those of
 * one table, and no other. */
#ifndef META_SCHEDULER_H
#define META_SCHEDULER_H

#include "model/meta.h"

struct scheduler_row {
	const char *name;
	const char *only_with; /* the other one without which the name means something else */
	bool is_job;           /* the scheduler's id of the job */
	bool may_hold_args;    /* left out with --no-args: by default it is the command line */
};

size_t scheduler_nr_rows(void);
const struct scheduler_row *scheduler_row(size_t i);
/* Copies those that are set and not empty; what is longer than VARIABLE_BYTES is cut, not within a
 * character. */
void scheduler_read(bool no_args, struct meta *m);
/* The id that the scheduler gave to the job we run in; NULL: we run in none. Not owned. */
const char *scheduler_job(void);

#endif
