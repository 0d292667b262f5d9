// SPDX-License-Identifier: BSD-2-Clause
#include "study/run_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *run_group_name(const struct stored_run *r)
{
	return r->name ? r->name : r->command ? r->command : "";
}

/* A command is not the name that it looks like. */
static int grouped_runs_by_group(const struct stored_run *a, const struct stored_run *b)
{
	int c = !a->name - !b->name;

	return c ? c : strcmp(run_group_name(a), run_group_name(b));
}

static int grouped_runs_compare(const void *x, const void *y, void *context)
{
	const struct stored_runs *all = context;
	const struct stored_run *a = &all->runs[*(const size_t *)x];
	const struct stored_run *b = &all->runs[*(const size_t *)y];
	int c = grouped_runs_by_group(a, b);

	if (!c)
		c = (a->start_epoch_ns > b->start_epoch_ns) -
		    (a->start_epoch_ns < b->start_epoch_ns);
	return c ? c : (a->id > b->id) - (a->id < b->id);
}

int grouped_runs_make(struct grouped_runs *o, const struct stored_runs *all)
{
	*o = (struct grouped_runs){ .at = calloc(all->nr + 1, sizeof(*o->at)) };
	if (!o->at)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		if (all->runs[i].state == RUN_FINISHED)
			o->at[o->nr++] = i;
	qsort_r(o->at, o->nr, sizeof(*o->at), grouped_runs_compare, (void *)all);
	return 0;
}

void grouped_runs_done(struct grouped_runs *o)
{
	free(o->at);
	*o = (struct grouped_runs){ 0 };
}

size_t grouped_runs_group_end(const struct grouped_runs *o, const struct stored_runs *all,
			      size_t from)
{
	size_t end = from + 1;

	while (end < o->nr &&
	       !grouped_runs_by_group(&all->runs[o->at[from]], &all->runs[o->at[end]]))
		end++;
	return end;
}
