/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an agent leaves for the next one, so that a restart ends no run: the loaded books, the
 * connections of clients, and the state of all jobs. The service manager keeps it as one
 * descriptor, a socket with messages that carry the others. It is renewed while the agent works, so
 * that it is there after a kill, too, and once more when the agent stops.
 */
#ifndef AGENT_HANDOVER_H
#define AGENT_HANDOVER_H

#include "agent/node.h"
#include "measure/kept.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDOVER_VERSION 1 /* of the state; another one is not read */

struct agent;
struct peer;

struct handover {
	bool is_on;
	bool is_stale;   /* runs have begun or ended since it was renewed */
	bool is_done;    /* the next agent continues: nothing is to be ended here */
	uint64_t serial; /* of what the manager keeps */
	/* CLOCK_MONOTONIC: when it is renewed, and when at the earliest */
	uint64_t due_ns, earliest_ns;
	/* From the agent before; NULL if there is none, and after the start. Owned. */
	json_t *state;
	int *fds;
	size_t nr_fds;
	struct kept kept;        /* its books; of @state and @fds */
	struct node_before node; /* its jobs; of @state */
	char gap[160];           /* why what is continued is not complete; empty if it is */
	size_t runs;             /* continued */
};

/* Takes what the manager has kept of the agent before, if anything. */
void handover_take(struct handover *h);
/* Closes what is left of it. */
void handover_release(struct handover *h);
/* Called when it is known whether the books are those of the agent before. */
void handover_begin(struct handover *h, bool same_books);
/* Returns whether @p is left to the next agent. */
bool handover_leaves(const struct peer *p);
/* Continues the runs of clients, after the node was opened. Logs what cannot be continued. */
void handover_resume_runs(struct agent *a);
/* Continues with clients that listen to a job or have not asked yet, when the jobs have begun. */
void handover_resume_clients(struct agent *a);

/* Renews what the manager keeps, if that is due. */
void handover_renew(struct agent *a);
/* Leaves everything to the next agent. Returns 0, or a negative errno: then nothing is left. */
int handover_finish(struct agent *a);

#endif
