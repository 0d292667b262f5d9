// SPDX-License-Identifier: BSD-2-Clause
#include "measure/job.h"

#include "base/clock.h"
#include "measure/tally.h"
#include "measure/net_peers.h"
#include "measure/record.h"
#include "run/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

static void job_read_peers(struct job *job, struct sample *smp)
{
	const struct metric_set *usable = &job->view.run->usable;

	if (job->spec->net_peers && !job->view.books->whole_node &&
	    peers_put_instances(&job->view.books->tracker, usable, job->spec->net_peers, smp) ==
		    -ENOMEM)
		job->view.tally.forgone++;
	socket_states_put(job->sockets, usable, smp);
}

/* What only a run reads, beside what its view has. */
static void job_read_files(struct job *job, struct sample *smp)
{
	const struct metric_set *usable = &job->view.run->usable;

	if (job->spec->tracker.cgroup)
		target_look(job);
	cgroup_stat_read(&job->cgroup, usable, smp);
	job_read_peers(job, smp);
	pressure_read(&job->host_pressure, usable, M_host_memory_pressure_some,
		      M_host_memory_pressure_full, smp);
}

void job_drain_begin(struct job *job)
{
	job_release_held(job); /* its rows end now */
	tally_drain_begin(&job->view.tally);
	job->nr_unread = 0;
	memset(job->sockets, 0, sizeof(job->sockets));
	spans_drain_begin(&job->spans);
}

void job_total(struct job *job, const struct account_key *key, const struct account *total)
{
	tally_total(&job->view.tally, total);
	spans_total(&job->spans, key, total);
}

void job_slice(struct job *job, const struct slice *slice)
{
	tally_slice(&job->view.tally, slice);
	spans_slice(&job->spans, slice);
}

void job_socket(struct job *job, const struct socket_row *row)
{
	if (row->state < NR_TCP_STATES)
		job->sockets[row->state]++;
}

void job_unread(struct job *job)
{
	job->nr_unread++;
}

void job_drain_end(struct job *job)
{
	struct books *b = job->view.books;

	tally_view_drain_end(&job->view);
	spans_drain_end(&job->spans, b->tracker.began_ns - job->view.start_ns);
	/* at the end what ends until its accounts are closed belongs to the interval */
	if (job->state == JOB_LEAVES)
		return;
	job_bound_interval(job);
	spans_write_ended(&job->spans);
}

void job_bound_interval(struct job *job)
{
	const struct books *b = job->view.books;

	tally_end_interval(&job->view.tally, &b->rows, b->drain_boot_ns);
	spans_bound_interval(&job->spans);
}

void job_publish(struct job *job)
{
	const uint64_t began_ns = job->view.books->tracker.began_ns;
	struct sample *smp = &job->view.smp;

	job_read_block_io(job);
	tally_view_make_sample(&job->view, began_ns);
	job->view.tally.summary.entered -= job->seeded_roots;
	job_read_files(job, smp);
	if (job->spec->tracker.cgroup)
		target_compare(job, smp, began_ns);
	books_consume(job->view.books);
	job->unread += job->nr_unread;
	heaviest_write(&job->heaviest, &job->view, job->spec->process_samples, &job->held.heaviest);
	if (job->spec->span_samples)
		spans_put_sample(&job->spans, smp);
	needed_watch_sample(job);
	job_hold_sample(job);
	tally_view_note_stall(&job->view, smp->elapsed_ns);
	limit_watch_check(job);
}

bool job_has_sample(const struct job *job)
{
	return job->view.smp.elapsed_ns == job->view.books->tracker.began_ns - job->view.start_ns;
}

void job_sample(struct job *job)
{
	books_drain(job->view.books, false);
	job_publish(job);
	feeds_flush(&job->view.feeds);
}

static void job_put_baseline(struct job *job)
{
	struct sample smp = { 0 };

	tally_put_totals(&job->view.tally, &smp, &job->baseline);
	memcpy(job->view.run->baseline, smp.value, sizeof(job->view.run->baseline));
	job->view.run->baseline_have = smp.have;
	job->view.run->seeded_tasks = job->baseline.threads;
}

/* An attachment begins when all its processes have been found. */
static uint64_t attachment_begin(struct job *job)
{
	const struct cgroup_target *target = job->spec->tracker.cgroup;
	struct tracker *tracker = &job->view.books->tracker;
	struct run *run = job->view.run;

	run->targets = job->spec->targets;
	run->nr_targets = job->spec->nr_targets;
	if (target) {
		run->cgroup = target->cg.path;
		run->hierarchy = target->cg.is_v2 ? "unified" : target->controller;
	}
	job->seeded_roots = job_totals(job).roots;
	if (job->view.books->whole_node) {
		job_put_baseline(job);
		return clock_ns(CLOCK_MONOTONIC);
	}
	run->seed_ns = tracker->seed_ns;
	run->seeded_tasks = tracker_tracking(tracker)->seeded;
	tracker_baseline(tracker, run->baseline, &run->baseline_have);
	/* if it waited for the cgroup's first process, it begins with that */
	return job->spec->wait_start ? clock_ns(CLOCK_MONOTONIC) : tracker->seeded_ns;
}

static void job_write_begin(struct job *job, uint64_t start_ns)
{
	job->state = JOB_RUNS;
	pressure_restart(&job->host_pressure);
	tally_view_begin(&job->view, start_ns);
	job_report_early(job);
}

void job_start(struct job *job, uint64_t start_ns)
{
	if (!job->spec->command)
		start_ns = attachment_begin(job);
	job_write_begin(job, start_ns);
	job_sample(job);
}

struct account job_totals(struct job *job)
{
	const struct accounts *a = &job->view.books->tracker.accounts;
	struct account sum = job->view.tally.removed;

	tracker_read_accounts(&job->view.books->tracker);
	spans_forget_totals(&job->spans);
	for (size_t i = 0; i < a->nr; i++) {
		if (!job_has(job, &a->keys[i]))
			continue;
		account_add(&sum, &a->totals[i]);
		spans_total(&job->spans, &a->keys[i], &a->totals[i]);
	}
	account_untear(&sum);
	sum.cpu += tracker_unsplit(&job->view.books->tracker);
	return sum;
}

void job_done(struct job *job)
{
	exact_peak_done(&job->exact);
	pss_reader_leave(job->pss_reader);
	pss_done(&job->pss);
	run_cgroup_done(&job->needed.cgroup);
	jsonw_done(&job->held.heaviest);
	cgroup_stat_done(&job->cgroup);
	pressure_done(&job->host_pressure);
	pushed_done(&job->pushed);
	heaviest_done(&job->heaviest);
	spans_done(&job->spans);
	tally_view_done(&job->view);
	free(job->early);
	free(job->left);
}
