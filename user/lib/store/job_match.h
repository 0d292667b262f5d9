/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the innermost job of a node that contains a process or a cgroup. */
#ifndef STORE_JOB_MATCH_H
#define STORE_JOB_MATCH_H

#include "store/node_jobs.h"

#include <sys/types.h>

/* Replaces *@best, which may be NULL, by a job further inside that contains the cgroup @path. */
void job_match_cgroup(const struct node_job_rows *jobs, const char *path,
		      const struct node_job_row **best);
/* The same with all cgroups of the process, one per hierarchy. Returns 0 or a negative errno. */
int job_match_process(const struct node_job_rows *jobs, pid_t pid,
		      const struct node_job_row **best);

#endif
