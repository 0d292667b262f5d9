/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of running runs of stores and jobs of the agent of the node. One item is selected. */
#ifndef TOP_TOP_LIST_H
#define TOP_TOP_LIST_H

#include "base/line_stream.h"
#include "run/agent_call.h"
#include "store/node_jobs.h"
#include "store/query.h"
#include "top/screen.h"

#include <stdbool.h>

/* The jobs of a node, updated by a stream of its agent. No call waits for the agent. */

#define NODE_WATCH_WHY_BYTES 512

struct node_watch {
	const char *agent; /* its socket, not owned; NULL without an agent */
	struct agent_call call;
	bool has_call, has_answered;
	bool has_ended; /* the agent has ended, and none has answered since */
	struct line_stream lines;
	struct node_job_rows rows;
	uint64_t attempt_ns; /* time of the last attempt to connect, CLOCK_MONOTONIC */
	int err;
	char why[NODE_WATCH_WHY_BYTES]; /* "" if the rows are current */
};

/* Connects to the agent at the socket @agent. */
void node_watch_begin(struct node_watch *w, const char *agent);
/*
 * Returns the descriptor that is readable when node_watch_step() has input. If it is -1,
 * node_watch_step() must be called from time to time.
 */
int node_watch_fd(const struct node_watch *w);
/*
 * Reads what the agent has sent. Connects again if the agent was absent or has ended. Returns 0 or
 * -ENOMEM.
 */
int node_watch_step(struct node_watch *w);
void node_watch_done(struct node_watch *w);

#define LIST_KEY_BYTES 80

struct list_item {
	const struct stored_run *run; /* either of these is set */
	const struct node_job_row *job;
};

struct list {
	struct stored_runs runs;
	struct node_watch watch;
	struct list_item *items; /* owned; runs, then jobs */
	size_t nr, room, nr_runs;
	size_t at, top;
	char selected[LIST_KEY_BYTES]; /* ID of the run of item @at; "" selects the first item */
	char why[1024];                /* error of the stores, or of what should be shown */
};

/* Returns the selected item, or NULL. */
const struct list_item *list_selected(const struct list *l);
void list_select(struct list *l, size_t at);
/* Stores the item that is drawn in row @y of the screen. Returns false if there is none. */
bool list_item_at(const struct list *l, int y, size_t *at);
/* Makes the items from the runs and jobs, after either has changed. Returns 0 or -ENOMEM. */
int list_arrange(struct list *l);
void list_item_label(const struct list_item *item, char *out, size_t size);
void list_done(struct list *l);
/* Draws the list at the time @now_epoch_ns. */
void list_draw(struct list *l, struct screen *s, uint64_t now_epoch_ns);

#endif
