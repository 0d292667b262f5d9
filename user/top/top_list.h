/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes on: the running runs of stores, and the jobs of the node's agent; one is selected. */
#ifndef TOP_TOP_LIST_H
#define TOP_TOP_LIST_H

#include "store/query.h"
#include "top/node_watch.h"
#include "top/screen.h"

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
/* Makes the items of what runs and jobs there are now: to be called after either has changed.
 * -ENOMEM. */
int list_arrange(struct list *l);
/* What an item is called. */
void list_item_label(const struct list_item *item, char *out, size_t size);
/* All of it but what it has of others is freed. */
void list_done(struct list *l);
/* draw_list.c */
void list_draw(struct list *l, struct screen *s, uint64_t now_epoch_ns);

#endif
