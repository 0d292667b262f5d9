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
		left = reallocarray(left, room, sizeof(*left));
		if (!left) {
			job->forgone++;
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
	const struct accounts *a = &job->books->tracker.accounts;
	struct account_key *keys = calloc(a->nr + 1, sizeof(*keys));
	size_t n = 0;

	if (!keys) {
		job->forgone++;
		return;
	}
	for (size_t i = 0; i < a->nr; i++)
		if (books_owner(job->books, &a->keys[i]) == job)
			keys[n++] = a->keys[i];
	while (n--) {
		const struct account_key in_node = { job->heir, keys[n].cgroup };

		if (books_retire(job->books, &keys[n],
				 job->books->whole_node ? &in_node : &account_of_none, left_keep,
				 job))
			job->forgone++;
	}
	free(keys);
}

void job_abandon(struct job *job)
{
	tracker_read_accounts(&job->books->tracker);
	accounts_close(job);
	job_leave_books(job);
}

/* The growth since the job began: what was before is another job's. */
static uint64_t growth_since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void job_close(struct job *job)
{
	struct tracker *tracker = &job->books->tracker;

	pushed_stop(&job->pushed, job_samples_made(job)); /* what arrives now is after the end */
	job->state = JOB_LEAVES;
	if (job->spec->is_view) { /* its totals are those of the last drain, or of accounts that are
				     gone */
		job_publish(job);
		return;
	}
	books_drain(job->books, true);
	limit_watch_leave(job);
	if (!job->books->whole_node)
		job->summary.map_bytes = tracker_map_bytes(tracker);
	if (!job->books->whole_node)
		tracker_settle_births(tracker);
	/* a task that is found after its account was closed is lost to this job */
	job->unrepaired = growth_since(tracker_unrepaired(tracker), job->base.unrepaired);
	job->repaired = growth_since(tracker_repaired(tracker), job->base.repaired);
	if (job->spec->tracker.exact_peak)
		tracker_freeze_peak(tracker);
	accounts_close(job);
	/* they are final now: the sum of the records */
	job->totals = job_totals(job);
	job_bound_interval(job);
	job_publish(job);
}

static void left_emit(struct job *job, const struct process_record *r)
{
	if (!(r->flags & (PROCESS_ENDED | PROCESS_LEFT)))
		job->summary.outlived++;
	job_emit(job, r, rows_find(&job->books->rows, r->serial), true);
}

static const char *const loss_names[NR_LOSSES] = {
	[LOSS_TASKS_FULL] = "tasks",   [LOSS_PROCESSES_FULL] = "processes",
	[LOSS_ACCOUNTS] = "accounts",  [LOSS_RECORDS] = "process_records",
	[LOSS_EXECS] = "exec_events",  [LOSS_STALE] = "free_events",
	[LOSS_MMS] = "address_spaces", [LOSS_OOM] = "oom_events",
};

const char *job_loss_name(int loss)
{
	return loss_names[loss];
}

/* Losses of its accounts, and those since it began that are in no account. */
static uint64_t loss_of_job(struct job *job, int loss, const struct account *of_accounts)
{
	const uint64_t of_machine = tracker_tracking(&job->books->tracker)->loss[loss];

	return job->totals.loss[loss] +
	       growth_since(of_machine - of_accounts->loss[loss], job->base.loss[loss]);
}

static void summary_note_losses(struct job *job)
{
	const struct books *b = job->books;
	struct summary *sum = &job->summary;
	struct account of_accounts;
	const uint64_t failures = growth_since(memory_failures(), job->base.memory_failures);
	uint64_t lost;

	tracker_totals(&job->books->tracker, &of_accounts);
	for (int i = 0; i < NR_LOSSES; i++)
		summary_add_loss(sum, loss_names[i], loss_of_job(job, i, &of_accounts));
	summary_add_loss(sum, "fork_events", job->unrepaired);
	if (metric_set_has_source(&job->run->usable, SOURCE_NET))
		summary_add_loss(
			sum, "socket_events",
			growth_since(tracker_socket_misses(&b->tracker), job->base.socket_misses));
	if (metric_has(&job->run->usable, M_net_sockets))
		summary_add_loss(
			sum, "live_sockets",
			growth_since(tracker_sockets_lost(&b->tracker), job->base.sockets_lost));
	if (job->spec->net_peers)
		summary_add_loss(
			sum, "net_peers",
			growth_since(tracker_peers_lost(&b->tracker), job->base.peers_lost));
	/* failed allocations that were handled without being counted elsewhere count, too */
	lost = job->forgone + growth_since(b->unnamed, job->base.unnamed) +
	       growth_since(b->rows.lost, job->base.rows_lost);
	summary_add_loss(sum, "memory_allocations", lost > failures ? lost : failures);
	if (metric_has(&job->run->usable, M_rss))
		summary_add_loss(sum, "process_memory", job->unread);
	if (metric_set_has_source(&job->run->usable, SOURCE_BLOCK))
		summary_add_loss(
			sum, "block_requests",
			growth_since(tracker_blocks_lost(&b->tracker), job->base.blocks_lost) +
				job->block_io.forgone);
	sum->repaired = job->repaired;
	if (loss_of_job(job, LOSS_TASKS_FULL, &of_accounts) ||
	    loss_of_job(job, LOSS_PROCESSES_FULL, &of_accounts))
		snprintf(sum->reason, sizeof(sum->reason),
			 "the map holds %u tasks; see --max-tasks", tracker_max_tasks(&b->tracker));
}

static void summary_note_self(struct job *job)
{
	const struct tracker *t = &job->books->tracker;
	struct summary *sum = &job->summary;

	sum->drains = growth_since(t->drains, job->base.drains);
	sum->drain_ns_total = growth_since(t->drain_ns_total, job->base.drain_ns_total);
	sum->drain_ns_max = t->drain_ns_max;
	sum->drain_ns_median = books_drain_median(job->books);
	sum->has_pss_cost = job->spec->pss_ppm || job->pss.cost.reads;
	sum->pss = job_pss_cost(job);
	sum->is_of_agent = job->books->whole_node;
	if (!sum->is_of_agent)
		selfcost_read(getpid(), &sum->collector);
	if (job->spec->recorder)
		selfcost_read(job->spec->recorder, &sum->recorder);
}

static void summary_note_peaks(struct job *job)
{
	struct summary *sum = &job->summary;

	if (job->spec->tracker.exact_peak)
		exact_peak_finish(&job->exact, &job->books->tracker, job->start_ns, sum);
	/* a view gets no records of processes; without BPF some have none */
	if (!job->spec->is_view && !job->run->is_from_proc)
		memory_bound_report(&job->bound, metric_has(&job->run->usable, M_rss), sum);
	needed_watch_finish(job);
	if (metric_has(&job->run->usable, M_cgroup_memory))
		sum->has_cgroup_peak = cgroup_stat_peak(&job->cgroup, &sum->cgroup_peak_bytes);
}

static void summary_note_bounds(struct job *job)
{
	const struct tracker *t = &job->books->tracker;
	struct summary *sum = &job->summary;
	uint64_t bytes, at_ns;

	if (!t->proc)
		return;
	sum->bounds.is_from_proc = true;
	sum->bounds.has_all_processes = proc_source_counts_all(t->proc);
	proc_source_bounds(t->proc, &t->usable, &sum->bounds.counters);
	if (!metric_has(&t->usable, M_rss))
		return;
	bytes = proc_source_tree_peak(t->proc, &at_ns);
	if (bytes > sum->rss_peak_bytes && at_ns > job->start_ns) {
		sum->rss_peak_bytes = bytes;
		sum->rss_peak_elapsed_ns = at_ns - job->start_ns;
	}
	summary_raise_peak(sum, proc_source_peak(t->proc));
	summary_raise_peak(sum, sum->process_rss_peak_bytes); /* of one that was not waited for */
}

/* Each listener gets a summary of its own: lines that it did not take are only its loss. The
 * observer gets one without such. */
static void summary_put(struct job *job)
{
	struct summary *sum = &job->summary;
	const size_t nr_losses = sum->nr_losses;
	const bool complete = sum->complete;

	for (struct feed *f = job->feeds.first; f; f = f->next) {
		sum->nr_losses = nr_losses;
		sum->complete = complete;
		summary_add_loss(sum, "stream_lines", f->dropped);
		summary_add_loss(sum, "process_samples", f->spared);
		write_summary(&job->json, sum);
		feed_put(f, job->json.text, job->json.used);
		jsonw_reset(&job->json);
	}
	sum->nr_losses = nr_losses;
	sum->complete = complete;
	if (job->observer)
		job->observer->summary(job->observer_context, sum);
}

static void job_finish(struct job *job)
{
	summary_note_peaks(job);
	summary_note_losses(job);
	summary_note_self(job);
	if (job->summary.by_cgroup)
		job->summary.cpu_unsure_ns = target_unsure_ns(job);
	job->summary.has_cores = metric_has(&job->run->usable, M_cores);
	summary_note_bounds(job);
	summary_finish(&job->summary);
	summary_put(job);
}

void job_report_so_far(struct job *job, struct feed *feed)
{
	struct summary *sum = &job->summary, saved = *sum;

	sum->nr_losses = 0;
	summary_note_losses(job);
	summary_note_self(job);
	sum->has_cores = metric_has(&job->run->usable, M_cores);
	summary_finish(sum);
	summary_add_loss(sum, "stream_lines", feed->dropped);
	write_summary(&job->json, sum);
	feed_put(feed, job->json.text, job->json.used);
	jsonw_reset(&job->json);
	*sum = saved;
}

bool job_close_step(struct job *job)
{
	job_release_overdue(job);
	if (job->held.is_waiting)
		return false;
	for (; job->next_left < job->nr_left; job->next_left++) {
		if (!feeds_have_room(&job->feeds))
			return false;
		left_emit(job, &job->left[job->next_left]);
	}
	do
		if (!feeds_have_room(&job->feeds))
			return false;
	while (spans_write_left(job));
	if (!job_close_pushed(job))
		return false;
	if (job->state == JOB_LEAVES)
		job_finish(job);
	job->state = JOB_ENDED;
	return true;
}
