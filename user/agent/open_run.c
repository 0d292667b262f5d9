// SPDX-License-Identifier: BSD-2-Clause
#include "agent/open_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS 100000
/*
 * The samples of a run lie a thousandth of its age apart, at least: a job of an hour has some 2,000
 * then, one of a year 11,000.
 */
#define AGE_OF_STEP 1000

static size_t bucket_of(const char *uuid)
{
	uint32_t h = 2166136261U;

	for (; *uuid; uuid++)
		h = (h ^ (unsigned char)*uuid) * 16777619U;
	return h % OPEN_RUN_BUCKETS;
}

struct open_run *open_runs_find(const struct open_runs *all, const char *uuid)
{
	struct open_run *run = all->buckets[bucket_of(uuid)];

	while (run && strcmp(run->uuid, uuid) != 0)
		run = run->in_bucket;
	return run;
}

struct open_run *open_runs_add(struct open_runs *all, const char *uuid)
{
	struct open_run **bucket = &all->buckets[bucket_of(uuid)];
	struct open_run *run =
		all->nr < MOST_RUNS && strlen(uuid) < UUID_BYTES ? calloc(1, sizeof(*run)) : NULL;

	if (!run)
		return NULL;
	snprintf(run->uuid, sizeof(run->uuid), "%s", uuid);
	run->in_bucket = *bucket;
	*bucket = run;
	run->next = all->first;
	all->first = run;
	all->nr++;
	return run;
}

void open_runs_remove(struct open_runs *all, struct open_run **at)
{
	struct open_run *run = *at, **in = &all->buckets[bucket_of(run->uuid)];

	while (*in != run)
		in = &(*in)->in_bucket;
	*in = run->in_bucket;
	*at = run->next;
	all->nr--;
	all->nr_ended -= run->summary != NULL;
	free(run->meta);
	free(run->summary);
	free(run);
}

void open_runs_done(struct open_runs *all)
{
	while (all->first)
		open_runs_remove(all, &all->first);
}

bool open_run_is_due(const struct open_run *run, uint64_t min_ns)
{
	if (run->summary || run->has_vanished)
		return true;
	if (run->elapsed_ns < min_ns || (!run->meta && run->is_looked_for && !run->kept.id))
		return false;
	if (!run->kept.id)
		return true;
	return run->has_waiting &&
	       run->waiting.elapsed_ns >= run->kept_ns + run->waiting.elapsed_ns / AGE_OF_STEP;
}

int open_run_write(struct open_run *run, struct store_writer *w)
{
	int err = 0;

	run->is_touched = true;
	store_writer_turn(w, &run->kept);
	if (!run->is_looked_for && !run->kept.id)
		err = store_writer_resume(w, run->uuid);
	run->is_looked_for = true;
	if (!err && !run->kept.id && run->meta)
		err = store_writer_put(w, run->meta, strlen(run->meta));
	if (err || !run->kept.id)
		return err;
	if (run->has_waiting)
		err = store_writer_put_sample(w, &run->waiting);
	if (!err && run->summary)
		err = store_writer_put(w, run->summary, strlen(run->summary));
	if (err)
		return err;
	return run->has_vanished && !run->summary ? store_writer_leave(w) : store_writer_note(w);
}

void open_run_settle(struct open_run *run, bool is_committed)
{
	run->is_touched = false;
	if (!is_committed) {
		run->kept = (struct store_run){ 0 };
		run->is_looked_for = false;
	} else if (run->kept.id && run->has_waiting) {
		run->kept_ns = run->waiting.elapsed_ns;
		run->has_waiting = false;
		run->waiting = (struct sample){ 0 };
	}
}
