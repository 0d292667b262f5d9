/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The jobs of the node that its cgroups make, by the rules: each sums the accounts of its cgroups.
 * They nest; the outermost is the node itself, and what no rule knows is in the job "other".
 */
#ifndef AGENT_NODE_H
#define AGENT_NODE_H

#include "agent/agent_stream.h"
#include "agent/cgroups.h"
#include "agent/rules.h"
#include "measure/tally_view.h"

struct node_job {
	struct node_job *next;  /* in the list, not owned */
	struct node_job *above; /* the job around it; NULL: it is the node */
	struct rules_job rule;
	char *cgroup;       /* owned; its path */
	bool is_one_cgroup; /* its memory is that of @cgroup */
	bool has_looked;    /* at that, when it had used so much: */
	uint64_t looked_cpu_ns;
	struct tally_view view;
	struct subject subject;
	size_t nr_cgroups, nr_within; /* known cgroups and jobs directly in it */
};

struct node {
	struct books *books; /* not owned, nor are the next two */
	const struct rules *rules;
	struct stream *stream;
	struct cgroups cgroups;
	struct node_job whole, other;
	struct node_job *jobs; /* owned; the last one to begin first */
	uint64_t interval_ns;
	uint64_t stalled_below_ppm; /* millionths of a CPU: less is no work */
	uint64_t stalled_after_ns;  /* without work a job is stalled; 0: not asked for */
	char hierarchy[32];         /* "unified", or a controller of version 1 */
	size_t nr_jobs;             /* now, but for the node and "other" */
	uint64_t nr_begun;
	uint64_t forgone; /* cgroups without a job of their own, for lack of memory */
	bool counts_blocks;
	bool is_started;  /* what is found from now on is new */
	bool has_drained; /* since node_settle() */
};

/*
 * Opens the hierarchy of @root, whose cgroups become jobs as soon as they have processes. 0 or a
 * negative errno.
 */
int node_open(struct node *n, struct books *books, const struct cgroup_target *root,
	      const struct rules *rules, struct stream *stream, uint64_t interval_ns);
void node_done(struct node *n);
/* What there is now has been adopted. */
void node_start(struct node *n);
/* From now on cgroups get their jobs by @rules; those that have one keep it. */
void node_set_rules(struct node *n, const struct rules *rules);

/* What the books report; see struct books_ops. */
void node_drain_begin(struct node *n);
void node_total(struct node *n, const struct account_key *key, const struct account *total);
void node_slice(struct node *n, const struct slice *slice);
void node_drain_end(struct node *n);
void node_oom(struct node *n, const struct oom_event *e);
void node_begun(struct node *n, const struct account_key *key);
void node_removed(struct node *n, const struct account_key *key, const struct account *total);
void node_cgroup(struct node *n, const struct cgroup_name_event *e);

/* Makes a sample of each job, of the last drain. */
void node_publish(struct node *n);
/* After a drain, and not within one: removes accounts that are over, ends jobs that are. */
void node_settle(struct node *n);
/* Ends all jobs: the agent ends. */
void node_end(struct node *n);
/* The job with the id @name; or the only one of those that @l may see whose display name is @name.
 * NULL: none. */
struct node_job *node_find_named(struct node *n, const char *name, const struct listener *l);
/* Calls @each for all jobs, the node and "other" included. */
void node_each(struct node *n, void (*each)(void *context, struct node_job *j), void *context);

/* Shares the block I/O of the node's cgroups out among its jobs. */

/* One job of the node: how it begins and ends. */

#endif
