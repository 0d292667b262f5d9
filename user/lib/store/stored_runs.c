// SPDX-License-Identifier: BSD-2-Clause
/* Lists of runs: in order, each run once. */
#include "base/text.h"
#include "store/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stored_run_done(struct stored_run *r)
{
	free(r->uuid);
	free(r->name);
	free(r->job);
	free(r->command);
	free(r->user);
	free(r->host);
	free(r->note);
	free(r->tags);
	free(r->stall);
}

bool stored_run_is(const struct stored_run *r, enum state_filter f)
{
	switch (f) {
	case ONLY_RUNNING:
		return r->state == RUN_RUNNING;
	case ONLY_FINISHED:
		return r->state == RUN_FINISHED;
	case ONLY_UNFINISHED:
		return r->state == RUN_UNFINISHED;
	case ONLY_FAILED:
		return r->exit_code > 0 || r->signal > 0;
	default:
		return true;
	}
}

int stored_runs_append(struct stored_runs *all, const struct stored_run *r)
{
	if (all->nr == all->room) {
		size_t room = all->room ? all->room * 2 : 64;
		struct stored_run *runs = realloc(all->runs, room * sizeof(*runs));

		if (!runs)
			return -ENOMEM;
		all->runs = runs;
		all->room = room;
	}
	all->runs[all->nr++] = *r;
	return 0;
}

/* Keeps the others in their order. */
static void stored_runs_drop(struct stored_runs *all, const bool *is_out)
{
	size_t kept = 0;

	for (size_t i = 0; i < all->nr; i++) {
		if (is_out[i])
			stored_run_done(&all->runs[i]);
		else
			all->runs[kept++] = all->runs[i];
	}
	all->nr = kept;
}

/* Which copy of a run has the most. */
static int stored_run_rank(const struct stored_run *r)
{
	return r->state == RUN_FINISHED ? 0 : r->state == RUN_RUNNING ? 1 : 2;
}

/* Copies of a run are neighbours then, the one to be kept before the others. */
static int stored_run_order_copies(const void *x, const void *y)
{
	const struct stored_run *a = *(struct stored_run *const *)x;
	const struct stored_run *b = *(struct stored_run *const *)y;
	int c = strcmp(a->uuid, b->uuid);

	if (!c)
		c = stored_run_rank(a) - stored_run_rank(b);
	if (!c)
		c = (a->edited_ns < b->edited_ns) - (a->edited_ns > b->edited_ns);
	return c ? c : (a->source > b->source) - (a->source < b->source);
}

int stored_runs_unique(struct stored_runs *all)
{
	struct stored_run **sorted = calloc(all->nr + 1, sizeof(*sorted));
	bool *is_copy = calloc(all->nr + 1, sizeof(*is_copy));
	int err = sorted && is_copy ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < all->nr; i++)
		sorted[i] = &all->runs[i];
	if (!err && all->nr) {
		qsort(sorted, all->nr, sizeof(struct stored_run *), stored_run_order_copies);
		for (size_t i = 1; i < all->nr; i++)
			is_copy[sorted[i] - all->runs] =
				!strcmp(sorted[i]->uuid, sorted[i - 1]->uuid);
		stored_runs_drop(all, is_copy);
	}
	free(is_copy);
	free(sorted);
	return err;
}

int stored_runs_select(struct stored_runs *all, enum state_filter state)
{
	bool *is_out = calloc(all->nr + 1, sizeof(*is_out));

	if (!is_out)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		is_out[i] = !stored_run_is(&all->runs[i], state);
	stored_runs_drop(all, is_out);
	free(is_out);
	return 0;
}

static bool stored_run_has_word(const struct stored_run *r, const char *word)
{
	return (r->name && text_holds(r->name, word)) ||
	       (r->command && text_holds(r->command, word)) ||
	       (r->note && text_holds(r->note, word));
}

int stored_runs_search(struct stored_runs *all, const struct run_filter *f)
{
	bool *is_out = f->nr_words ? calloc(all->nr + 1, sizeof(*is_out)) : NULL;

	if (!is_out)
		return f->nr_words ? -ENOMEM : 0;
	for (size_t i = 0; i < all->nr; i++)
		for (size_t w = 0; w < f->nr_words; w++)
			is_out[i] |= !stored_run_has_word(&all->runs[i], f->words[w]);
	stored_runs_drop(all, is_out);
	free(is_out);
	return 0;
}

static int newest_first(const struct stored_run *a, const struct stored_run *b)
{
	return (a->start_epoch_ns < b->start_epoch_ns) - (a->start_epoch_ns > b->start_epoch_ns);
}

static int largest_first(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

int64_t run_needed_bytes(const struct stored_run *r)
{
	return *r->needed.witness && r->needed.bytes <= INT64_MAX ? (int64_t)r->needed.bytes : -1;
}

/* What a list shows of it. */
static int64_t run_memory(const struct stored_run *r)
{
	return *r->needed.witness ? run_needed_bytes(r) : r->rss_peak_bytes;
}

static int stored_run_order(const void *x, const void *y, void *context)
{
	const struct stored_run *a = x, *b = y;
	int c = 0;

	switch (*(enum run_order *)context) {
	case BY_WALL:
		c = largest_first(a->wall_ns, b->wall_ns);
		break;
	case BY_CPU:
		c = largest_first(a->cpu_ns, b->cpu_ns);
		break;
	case BY_MEMORY:
		c = largest_first(run_memory(a), run_memory(b));
		break;
	case BY_NAME: /* those without one come last */
		c = !a->name - !b->name;
		if (!c && a->name)
			c = strcmp(a->name, b->name);
		break;
	default:
		break;
	}
	return c ? c : newest_first(a, b);
}

void stored_runs_sort(struct stored_runs *all, enum run_order order)
{
	if (all->nr)
		qsort_r(all->runs, all->nr, sizeof(*all->runs), stored_run_order, &order);
}

void stored_runs_done(struct stored_runs *all)
{
	for (size_t i = 0; i < all->nr; i++)
		stored_run_done(&all->runs[i]);
	free(all->runs);
	*all = (struct stored_runs){ 0 };
}
