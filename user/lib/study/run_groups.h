/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs of the same program: of one name, or of one command where they have none. */
#ifndef STUDY_RUN_GROUPS_H
#define STUDY_RUN_GROUPS_H

#include "store/query.h"

/* Places in a list of runs, those of a group next to each other, the oldest of it first. */
struct grouped_runs {
	size_t *at; /* owned */
	size_t nr;
};

/* Of the runs that have ended. -ENOMEM. */
int grouped_runs_make(struct grouped_runs *o, const struct stored_runs *all);
void grouped_runs_done(struct grouped_runs *o);
/* The place in the order behind the group that begins at @from. */
size_t grouped_runs_group_end(const struct grouped_runs *o, const struct stored_runs *all,
			      size_t from);
/* The name, else the command, else "". */
const char *run_group_name(const struct stored_run *r);

#endif
