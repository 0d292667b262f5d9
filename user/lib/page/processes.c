// SPDX-License-Identifier: BSD-2-Clause
#include "page/processes.h"

#include "page/excerpt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)3 * PROCESSES_SHOWN)
#define TEXT_KEPT 200 /* bytes of a path, or of all arguments */

struct ranked_process {
	uint64_t key;
	size_t index;
};

static uint64_t process_cpu_ns(const struct process *p)
{
	return p->value[M_cpu];
}

static uint64_t process_peak_bytes(const struct process *p)
{
	return p->has_rss_peak ? p->rss_peak_bytes : 0;
}

/* A live process has no end yet: it ranks before all that ended, the oldest first. */
static uint64_t process_duration_ns(const struct process *p)
{
	return (p->end_epoch_ns ? p->end_epoch_ns : UINT64_MAX) - p->start_epoch_ns;
}

static int ranked_compare(const void *a, const void *b)
{
	const struct ranked_process *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static void report_process_done(struct report_process *p)
{
	free(p->exe);
	free(p->args);
}

void processes_done(struct report_processes *all)
{
	for (size_t i = 0; i < all->nr; i++)
		report_process_done(&all->list[i]);
	free(all->list);
	*all = (struct report_processes){ 0 };
}

static uint64_t (*const keys[])(const struct process *) = { process_cpu_ns, process_peak_bytes,
							    process_duration_ns };

/* One that is among the first third by some rank in the end is so now, too: all these are kept. */
static void processes_mark_kept(struct report_processes *all, struct ranked_process *rank,
				bool *stays)
{
	const size_t third = PROCESSES_SHOWN / 3;

	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < all->nr; i++)
			rank[i] = (struct ranked_process){ keys[k](&all->list[i].p), i };
		qsort(rank, all->nr, sizeof(*rank), ranked_compare);
		for (size_t i = 0; i < all->nr && i < third; i++)
			stays[rank[i].index] = true;
		if (all->nr >= third) {
			all->least[k] = rank[third - 1].key;
			all->is_pruned = true;
		}
	}
}

/* Of equal ones the earlier are kept. */
static bool processes_may_keep(const struct report_processes *all, const struct process *p)
{
	bool may = !all->is_pruned;

	for (size_t k = 0; k < 3; k++)
		may |= keys[k](p) > all->least[k];
	return may;
}

static int processes_prune(struct report_processes *all)
{
	struct ranked_process *rank = calloc(all->nr, sizeof(*rank));
	bool *stays = calloc(all->nr, sizeof(*stays));
	int err = rank && stays ? 0 : -ENOMEM;
	size_t nr = all->nr;

	if (!err) {
		processes_mark_kept(all, rank, stays);
		all->nr = 0;
		for (size_t i = 0; i < nr; i++) {
			if (stays[i])
				all->list[all->nr++] = all->list[i];
			else
				report_process_done(&all->list[i]);
		}
	}
	free(rank);
	free(stays);
	return err;
}

static int processes_make_room(struct report_processes *all)
{
	struct report_process *list;
	size_t room = all->room ? all->room * 2 : 64;

	if (all->nr < all->room)
		return 0;
	if (all->nr >= ROOM)
		return processes_prune(all);
	list = realloc(all->list, room * sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	all->room = room;
	return 0;
}

int processes_add(struct report_processes *all, const struct process *p)
{
	struct report_process *new;

	all->total++;
	if (!processes_may_keep(all, p))
		return 0;
	if (processes_make_room(all))
		return -ENOMEM;
	new = &all->list[all->nr];
	*new = (struct report_process){ .p = *p };
	new->exe = p->exe ? excerpt_keep_end(p->exe, TEXT_KEPT) : NULL;
	new->args = p->args ? excerpt_join(p->args, p->args_length, p->args_cut, TEXT_KEPT) : NULL;
	if ((p->exe && !new->exe) || (p->args && !new->args)) {
		report_process_done(new);
		return -ENOMEM;
	}
	all->nr++;
	return 0;
}

int processes_finish(struct report_processes *all)
{
	return all->nr > PROCESSES_SHOWN ? processes_prune(all) : 0;
}

const struct report_process *processes_find_largest(const struct report_processes *all)
{
	const struct report_process *largest = NULL;

	for (size_t i = 0; i < all->nr; i++)
		if (all->list[i].p.has_rss_peak &&
		    (!largest ||
		     process_peak_bytes(&all->list[i].p) > process_peak_bytes(&largest->p)))
			largest = &all->list[i];
	return largest;
}
