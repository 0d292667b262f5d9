// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_list.h"

#include "text/jobs_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct list_item *list_selected(const struct list *l)
{
	return l->at < l->nr ? &l->items[l->at] : NULL;
}

static const char *item_key(const struct list_item *item)
{
	const char *key = item->run ? item->run->uuid : item->job->run;

	return key ? key : "";
}

void list_select(struct list *l, size_t at)
{
	const struct list_item *item;

	l->at = at < l->nr ? at : l->nr ? l->nr - 1 : 0;
	item = list_selected(l);
	snprintf(l->selected, sizeof(l->selected), "%s", item ? item_key(item) : "");
}

/* A run that goes through the agent is in the store of its user, too. */
static bool job_is_in_stores(const struct list *l, const struct node_job_row *job)
{
	for (size_t i = 0; i < l->runs.nr; i++)
		if (l->runs.runs[i].uuid && !strcmp(l->runs.runs[i].uuid, job->run))
			return true;
	return false;
}

static int items_make_room(struct list *l, size_t nr)
{
	struct list_item *items;

	if (nr <= l->room)
		return 0;
	items = reallocarray(l->items, 2 * nr, sizeof(*items));
	if (!items)
		return -ENOMEM;
	l->items = items;
	l->room = 2 * nr;
	return 0;
}

/* The row that was selected, wherever it is now; it may be on its way. */
static void list_find_selected(struct list *l)
{
	for (size_t i = 0; l->selected[0] && i < l->nr; i++)
		if (!strcmp(item_key(&l->items[i]), l->selected)) {
			l->at = i;
			return;
		}
	if (l->at >= l->nr)
		l->at = l->nr ? l->nr - 1 : 0;
}

int list_arrange(struct list *l)
{
	struct node_job_rows *jobs = &l->watch.rows;
	int err = items_make_room(l, l->runs.nr + jobs->nr);

	l->nr = l->nr_runs = 0;
	if (err)
		return err;
	node_jobs_sort(jobs, JOBS_BY_CPU);
	for (size_t i = 0; i < l->runs.nr; i++)
		l->items[l->nr++] = (struct list_item){ .run = &l->runs.runs[i] };
	l->nr_runs = l->nr;
	for (size_t i = 0; i < jobs->nr; i++)
		if (!job_is_in_stores(l, &jobs->all[i]))
			l->items[l->nr++] = (struct list_item){ .job = &jobs->all[i] };
	list_find_selected(l);
	return 0;
}

void list_item_label(const struct list_item *item, char *out, size_t size)
{
	const struct node_job_row *job = item->job;

	if (!job)
		snprintf(out, size, "%s", item->run->name ? item->run->name : "");
	else if (strcmp(job->id, "run") != 0)
		snprintf(out, size, "%s", job->id);
	else
		snprintf(out, size, "run%s%s", *job->name ? " " : "", job->name);
}

void list_done(struct list *l)
{
	stored_runs_done(&l->runs);
	node_watch_done(&l->watch);
	free(l->items);
	*l = (struct list){ 0 };
}
