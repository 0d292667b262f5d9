/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that people gave to jobs of this node: of a container by podman, docker or Kubernetes,
 * of a pod, of a Slurm job while it runs. A name is known to callers that may read the files of
 * the engine, or the environment of a process of the job.
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
/* Returns false for jobs that no engine names, such as services; reads nothing. */
bool job_can_have_title(const char *id);
/*
 * Returns the name of the job @id with the cgroup @cgroup (may be NULL), without control
 * characters, or NULL if it is unknown. The caller frees it.
 */
char *job_title_find(const struct job_titles *t, const char *id, const char *cgroup);
/* Sets the name of each job to that which people gave, and drops one that repeats the end of its
 * id. */
void job_titles_set(const struct job_titles *t, struct stored_runs *all);

#endif
