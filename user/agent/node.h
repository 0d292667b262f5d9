/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The jobs that the rules make of the node's cgroups; each sums the accounts of its cgroups. Jobs
 * nest: the outermost is the node itself, and cgroups that no rule matches belong to the job
 * "other".
 */
#ifndef AGENT_NODE_H
#define AGENT_NODE_H

#include "agent/agent_stream.h"
#include "agent/cgroups.h"
#include "agent/rules.h"
#include "measure/tally_view.h"
#include "store/job_title.h"

#include <jansson.h>

/* What the agent before has left of the node. */
struct node_before {
	const json_t *jobs, *cgroups; /* not owned; NULL: nothing */
	bool same_books;
	const char *gap;  /* why jobs are not complete; not owned; NULL if they are */
	size_t continued; /* jobs */
};

struct node_job {
	struct node_job *next;  /* in the list, not owned */
	struct node_job *above; /* enclosing job; NULL for the node */
	struct rules_job rule;
	char *cgroup;                /* path; owned */
	struct job_title title;      /* owned; names that people gave to the job */
	unsigned looks, title_looks; /* at samples, for its limits and its title */
	bool is_one_cgroup;          /* its memory is that of @cgroup */
	bool has_looked;             /* that memory was read when the job had used looked_cpu_ns */
	uint64_t looked_cpu_ns;
	struct tally_view view;
	struct subject subject;
	size_t nr_cgroups, nr_within; /* known cgroups and jobs directly in it */
};

/* Where the labels of Slurm jobs come from: see slurm_labels.c. */
struct slurm_source {
	char folder[128];  /* of files that root writes */
	unsigned failures; /* consecutive, of finding a number by the title of slurmstepd */
};

struct node {
	struct slurm_source slurm;
	struct books *books; /* not owned, as the next two */
	const struct rules *rules;
	struct stream *stream;
	struct cgroups cgroups;
	struct node_job whole, other;
	struct node_job *jobs;      /* owned; newest first */
	struct node_before *before; /* until node_start(); not owned */
	uint64_t interval_ns;
	uint64_t stalled_below_ppm; /* CPU use below which a job is idle, in millionths */
	uint64_t stalled_after_ns;  /* time without work until a job is stalled; 0 disables this */
	char hierarchy[32];         /* "unified", or a controller of version 1 */
	size_t nr_jobs;             /* without the node and "other" */
	uint64_t nr_begun;
	uint64_t forgone; /* cgroups that got no job of their own for lack of memory */
	bool counts_blocks;
	bool is_started;  /* adoption is done: cgroups found from now on are new */
	bool has_drained; /* since node_settle() */
};

/*
 * Opens the hierarchy of @root; its cgroups become jobs once they have processes. Those that
 * @before has are continued, until node_start(). Returns 0 or a negative errno.
 */
int node_open(struct node *n, struct books *books, const struct cgroup_target *root,
	      const struct rules *rules, struct stream *stream, uint64_t interval_ns,
	      struct node_before *before);
void node_done(struct node *n);
/*
 * Reads the limits of the job's cgroup into its label. A manager may set them after the first
 * process is in the cgroup; its CPU request is read from the second look on. Returns whether they
 * have changed.
 */
bool node_job_read_limits(const struct node *n, struct node_job *j);
/*
 * Begins the jobs of all accounts that another process has left, before their events are taken: one
 * may be that its cgroup was removed.
 */
void node_resume(struct node *n);
/* Called when all existing tasks have been adopted. */
void node_start(struct node *n);
/* Applies @rules to cgroups found from now on; those that have a job keep it. */
void node_set_rules(struct node *n, const struct rules *rules);

/* Callbacks of the books; see struct books_ops. */
void node_drain_begin(struct node *n);
void node_total(struct node *n, const struct account_key *key, const struct account *total);
void node_slice(struct node *n, const struct slice *slice);
void node_drain_end(struct node *n);
void node_ended(struct node *n, const struct process_record *r);
void node_oom(struct node *n, const struct oom_event *e);
void node_begun(struct node *n, const struct account_key *key);
void node_removed(struct node *n, const struct account_key *key, const struct account *total);
void node_cgroup(struct node *n, const struct cgroup_name_event *e);

/* Reads the block I/O counters of all jobs, for their next samples. */
void node_block_read(struct node *n);
/* Moves the counters of removed cgroups into their jobs for good, then reads those of all jobs. */
void node_block_settle(struct node *n);
/* Makes a sample of each job from the last drain. */
void node_publish(struct node *n);
/* Removes finished accounts and ends finished jobs. Called after a drain, never within one. */
void node_settle(struct node *n);
/* Ends all jobs, when the agent ends. */
void node_end(struct node *n);
/*
 * Returns the job with the id @name, or the only job with the display name @name that @l may see;
 * NULL if none.
 */
struct node_job *node_find_named(struct node *n, const char *name, const struct listener *l);
/* Calls @each for all jobs, including the node and "other". */
static inline void node_each(struct node *n, void (*each)(void *context, struct node_job *j),
			     void *context)
{
	each(context, &n->whole);
	each(context, &n->other);
	for (struct node_job *j = n->jobs; j; j = j->next)
		each(context, j);
}

/* slurm_labels.c: the labels of Slurm jobs. */

/* Labels are read from the folder "slurm" beside the agent's @socket. */
void slurm_labels_open(struct slurm_source *s, const char *socket);
/*
 * Like rules_find(), with number, name, user and labels of Slurm jobs. A job of a SLUID for which
 * no number is found is named by that.
 */
size_t slurm_rules_find(struct node *n, const char *path, struct rules_job found[RULES_JOBS]);
/* Completes the subject of a job, after its user has been set, by the labels in @rule. */
void slurm_subject_label(struct subject *subject, const struct rules_job *rule);
/* Sets the user of a Slurm job without one by its processes. Returns whether one was found. */
bool slurm_find_user(const struct node *n, struct node_job *j);

#endif
