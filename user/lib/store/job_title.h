/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names that people gave to jobs of this node: of a container by podman, docker or Kubernetes,
 * of a pod, of a Slurm job while it runs. A name is known to callers that may read the files of
 * the engine, or the environment of a process of the job.
 */
#ifndef STORE_JOB_TITLE_H
#define STORE_JOB_TITLE_H

#include "run/job_id.h"
#include "run/run.h"
#include "store/query.h"

#include <jansson.h>

struct job_titles {
	const char *root; /* "" for this machine */
	json_t *names;    /* owned; by the last part of the id of a job */
	json_t *pods;     /* owned; by the UID: namespace, pod */
	json_t *cut;      /* owned; containers whose ids are cut, lists by the UID of their pod */
};

struct job_title {
	char *text;             /* owned; to be displayed; NULL: unknown */
	struct pod_names names; /* owned; of a job of Kubernetes */
};

/*
 * Reads the files of the engines, with @with_home also those of the caller, if that is not root.
 * @root is not owned.
 */
void job_titles_open(struct job_titles *t, const char *root, bool with_home);
void job_titles_done(struct job_titles *t);
/* Returns false for jobs that no engine names, such as services; reads nothing. */
bool job_can_have_title(const char *id);
/*
 * Finds the name of the job @id with the cgroup @cgroup (may be NULL), without control characters.
 * A container whose own name is unknown has that of its pod, with "-" for its own. The caller frees
 * @title.
 */
void job_title_find(const struct job_titles *t, const char *id, const char *cgroup,
		    struct job_title *title);
void job_title_done(struct job_title *title);
/* Sets the name of each job to that which people gave, and drops one that repeats the end of its
 * id. */
void job_titles_set(const struct job_titles *t, struct stored_runs *all);

/*
 * A search for the names of several jobs in a thread, because the environment of a process cannot
 * be read while that holds its mmap lock, which can take as long as a file server is down.
 */

struct title_wanted {
	char id[JOB_ID_BYTES], run[37];
	char *cgroup;           /* owned */
	struct job_title title; /* owned; set by the search */
};

struct title_search;

/* Starts a search for @all, which it takes also on failure. Returns NULL if out of memory. */
struct title_search *title_search_start(struct title_wanted *all, size_t nr);
/* Returns NULL while the search goes on. */
struct title_wanted *title_search_results(const struct title_search *s, size_t *nr);
/* Frees a search that has results; leaves another to its thread, which then frees it. */
void title_search_end(struct title_search *s);

#endif
