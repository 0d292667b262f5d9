// SPDX-License-Identifier: BSD-2-Clause
/* How a job ends: it closes its accounts, writes the remaining lines, then the summary. */
#include "base/memory.h"
#include "measure/job.h"
#include "measure/selfcost.h"
#include "run/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void left_keep(void *context, const struct process_record *r)
{
	struct job *job = context;
	struct process_record *left = job->left;
	size_t room = job->room_left ? job->room_left * 2 : 64;

	if (job->nr_left == job->room_left) {
		left = memory_reallocarray(left, room, sizeof(*left));
		if (!left) {
			job->view.tally.forgone++;
			return;
		}
		job->left = left;
		job->room_left = room;
	}
	left[job->nr_left++] = *r;
}

/* What its processes use from here on is in no job. */
static void accounts_close(struct job *job)
{
	const struct accounts *a = &job->view.books->tracker.accounts;
	struct account_key *keys = memory_calloc(a->nr + 1, sizeof(*keys));
	size_t n = 0;

	if (!keys) {
		job->view.tally.forgone++;
		return;
	}
	for (size_t i = 0; i < a->nr; i++)
		if (books_owner(job->view.books, &a->keys[i]) == job)
			keys[n++] = a->keys[i];
	while (n--) {
		const struct account_key in_node = { job->heir, keys[n].cgroup };

		if (books_retire(job->view.books, &keys[n],
				 job->view.books->whole_node ? &in_node : &account_of_none,
				 left_keep, job))
			job->view.tally.forgone++;
	}
	free(keys);
}

void job_abandon(struct job *job)
{
	tracker_read_accounts(&job->view.books->tracker);
	accounts_close(job);
	job_leave_books(job);
}

void job_close(struct job *job)
{
	struct tracker *tracker = &job->view.books->tracker;

	pushed_stop(&job->pushed, job_samples_made(job)); /* what arrives now is after the end */
	job->state = JOB_LEAVES;
	books_drain(job->view.books, true);
	limit_watch_leave(job);
	if (!job->view.books->whole_node)
		job->view.tally.summary.map_bytes = tracker_map_bytes(tracker);
	if (!job->view.books->whole_node)
		tracker_settle_births(tracker);
	/* a task that is found after its account was closed is lost to this job */
	job->unrepaired = growth_since(tracker_unrepaired(tracker), job->view.base.unrepaired);
	job->repaired = growth_since(tracker_repaired(tracker), job->view.base.repaired);
	if (job->spec->tracker.exact_peak)
		tracker_freeze_peak(tracker);
	accounts_close(job);
	/* they are final now: the sum of the records */
	job->view.tally.totals = job_totals(job);
	job_bound_interval(job);
	job_publish(job);
}

static void left_emit(struct job *job, const struct process_record *r)
{
	if (!(r->flags & (PROCESS_ENDED | PROCESS_LEFT)))
		job->view.tally.summary.outlived++;
	job_emit(job, r, rows_find(&job->view.books->rows, r->serial), true);
}

/* What only a run can lose, beside what its view does. */
static void job_note_losses(struct job *job)
{
	const struct tally_view *v = &job->view;
	struct summary *sum = &job->view.tally.summary;

	tally_view_note_losses(&job->view);
	summary_add_loss(sum, "fork_events", job->unrepaired);
	if (job->spec->net_peers)
		summary_add_loss(
			sum, "net_peers",
			growth_since(tracker_peers_lost(&v->books->tracker), v->base.peers_lost));
	if (metric_has(&v->run->usable, M_rss))
		summary_add_loss(sum, "process_memory", job->unread);
	sum->repaired = job->repaired;
}

static void job_note_costs(struct job *job)
{
	struct summary *sum = &job->view.tally.summary;

	tally_view_note_costs(&job->view);
	sum->has_pss_cost = job->spec->pss_ppm || job->pss.cost.reads;
	sum->pss = job_pss_cost(job);
	if (!sum->is_of_agent)
		selfcost_read(getpid(), &sum->collector);
	if (job->spec->recorder)
		selfcost_read(job->spec->recorder, &sum->recorder);
}

static void summary_note_peaks(struct job *job)
{
	struct summary *sum = &job->view.tally.summary;

	if (job->spec->tracker.exact_peak)
		exact_peak_finish(&job->exact, &job->view.books->tracker, job->view.start_ns, sum);
	if (!job->view.run->is_from_proc) /* without BPF some processes have no record */
		memory_bound_report(&job->view.tally.bound,
				    metric_has(&job->view.run->usable, M_rss), sum);
	needed_watch_finish(job);
	if (metric_has(&job->view.run->usable, M_cgroup_memory))
		sum->has_cgroup_peak = cgroup_stat_peak(&job->cgroup, &sum->cgroup_peak_bytes);
}

static void summary_note_bounds(struct job *job)
{
	const struct tracker *t = &job->view.books->tracker;
	struct summary *sum = &job->view.tally.summary;
	uint64_t bytes, at_ns;

	if (!t->proc)
		return;
	sum->bounds.is_from_proc = true;
	sum->bounds.has_all_processes = proc_source_counts_all(t->proc);
	proc_source_bounds(t->proc, &t->usable, &sum->bounds.counters);
	if (!metric_has(&t->usable, M_rss))
		return;
	bytes = proc_source_tree_peak(t->proc, &at_ns);
	if (bytes > sum->rss_peak_bytes && at_ns > job->view.start_ns) {
		sum->rss_peak_bytes = bytes;
		sum->rss_peak_elapsed_ns = at_ns - job->view.start_ns;
	}
	summary_raise_peak(sum, proc_source_peak(t->proc));
	summary_raise_peak(sum, sum->process_rss_peak_bytes); /* of one that was not waited for */
}

static void job_finish(struct job *job)
{
	summary_note_peaks(job);
	job_note_losses(job);
	job_note_costs(job);
	if (job->view.tally.summary.by_cgroup)
		job->view.tally.summary.cpu_unsure_ns = target_unsure_ns(job);
	summary_note_bounds(job);
	tally_view_put_summary(&job->view);
}

bool job_close_step(struct job *job)
{
	job_release_overdue(job);
	if (job->view.is_held)
		return false;
	for (; job->next_left < job->nr_left; job->next_left++) {
		if (!feeds_have_room(&job->view.feeds))
			return false;
		left_emit(job, &job->left[job->next_left]);
	}
	do
		if (!feeds_have_room(&job->view.feeds))
			return false;
	while (spans_write_left(&job->spans));
	if (!job_close_pushed(job))
		return false;
	if (job->state == JOB_LEAVES)
		job_finish(job);
	job->state = JOB_ENDED;
	return true;
}
