/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes on: the running runs of stores, and the jobs of the node's agent; one is selected. */
#ifndef TOP_TOP_LIST_H
#define TOP_TOP_LIST_H

#include "base/line_stream.h"
#include "run/agent_call.h"
#include "store/node_jobs.h"
#include "store/query.h"
#include "top/screen.h"

#include <stdbool.h>

/* The jobs of an agent's node, kept current by its stream. No call waits for the agent. */

#define NODE_WATCH_WHY_BYTES 512

struct node_watch {
	const char *agent; /* its socket, not owned; NULL: there is none to ask */
	struct agent_call call;
	bool is_asked, has_answered;
	bool has_ended; /* an agent that had answered, and none has since */
	struct line_stream lines;
	struct node_job_rows rows;
	uint64_t asked_ns; /* CLOCK_MONOTONIC */
	int err;
	char why[NODE_WATCH_WHY_BYTES]; /* "": the rows are current */
};

/* Asks the agent at the socket @agent. */
void node_watch_begin(struct node_watch *w, const char *agent);
/* Returns the descriptor that is readable when node_watch_step() has something to read; -1 if there
 * is none, and node_watch_step() is called now and then. */
int node_watch_fd(const struct node_watch *w);
/* Reads what the agent has sent; connects again if it was not there, or has ended. Returns 0 or
 * -ENOMEM. */
int node_watch_step(struct node_watch *w);

#define LIST_KEY_BYTES 80

struct list_item {
	const struct stored_run *run; /* of the list, or */
	const struct node_job_row *job;
};

struct list {
	struct stored_runs runs;
	struct node_watch watch;
	struct list_item *items; /* owned; the runs, then the jobs */
	size_t nr, room, nr_runs;
	size_t at, top;
	char selected[LIST_KEY_BYTES]; /* the ID of the run of item @at; "": the first one */
	char why[1024];                /* what could not be read, or shown */
};

/* The item that is selected; NULL: there is none. */
const struct list_item *list_selected(const struct list *l);
void list_select(struct list *l, size_t at);
/* Makes the items from the runs and jobs; to be called after either has changed. Returns 0 or
 * -ENOMEM. */
int list_arrange(struct list *l);
/* What an item is called. */
void list_item_label(const struct list_item *item, char *out, size_t size);
/* Frees all that the list owns. */
void list_done(struct list *l);
/* Draws the list; @now_epoch_ns: the time up to which each item has lasted. */
void list_draw(struct list *l, struct screen *s, uint64_t now_epoch_ns);

#endif
