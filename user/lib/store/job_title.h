/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that people gave to jobs of this node: of a container by podman, docker or Kubernetes,
 * of a pod, of a Slurm job while it runs. An agent knows only cgroups. A name is known to callers
 * that may read the files of the engine, or the environment of a process of the job.
 */
#ifndef STORE_JOB_TITLE_H
#define STORE_JOB_TITLE_H

#include "store/query.h"

#include <jansson.h>

struct job_titles {
	const char *root; /* "" for this machine */
	json_t *names;    /* owned; by the last part of the id of a job */
};

/* Reads the files of the engines. @root is not owned. */
void job_titles_open(struct job_titles *t, const char *root);
void job_titles_done(struct job_titles *t);
/*
 * Returns the name of the job @id with the cgroup @cgroup (may be NULL), without control
 * characters, or NULL if it is unknown. The caller frees it.
 */
char *job_title_find(const struct job_titles *t, const char *id, const char *cgroup);
/* Sets the name of each job to that which people gave, and drops one that repeats the end of its
 * id. */
void job_titles_set(const struct job_titles *t, struct stored_runs *all);

#endif
