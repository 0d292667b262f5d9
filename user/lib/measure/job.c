// SPDX-License-Identifier: BSD-2-Clause
#include "measure/job.h"

#include "base/clock.h"
#include "measure/job_memory.h"
#include "measure/net_peers.h"
#include "measure/record.h"
#include "run/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#define MAX_STALL_PIDS 64 /* in the event of a stall */

static void sample_put_wire(const struct job *job, struct sample *smp)
{
	struct wire_counters now;

	if (!metric_set_has_source(&job->run->usable, SOURCE_WIRE) ||
	    tracker_wire(&job->books->tracker, &now))
		return;
#define WIRE_METRIC(base, ...)                                                                     \
	if (metric_has(&job->run->usable, M_##base))                                               \
		sample_set(smp, M_##base, now.base);
#include "bpfmon/metrics.def"
}

static void job_read_peers(struct job *job, struct sample *smp)
{
	const struct metric_set *usable = &job->run->usable;

	if (job->spec->net_peers && !job->books->whole_node &&
	    peers_put_instances(&job->books->tracker, usable, job->spec->net_peers, smp) == -ENOMEM)
		job->forgone++;
	socket_states_put(job->sockets, usable, smp);
}

static void sample_read_files(struct job *job, struct sample *smp)
{
	if (job->spec->tracker.cgroup)
		target_look(job);
	cgroup_stat_read(&job->cgroup, &job->run->usable, smp);
	sample_put_wire(job, smp);
	job_read_block_io(job, smp);
	job_read_peers(job, smp);
	pressure_read(&job->host_pressure, &job->run->usable, M_host_memory_pressure_some,
		      M_host_memory_pressure_full, smp);
}

/* If all CPUs are busy, more may have come online: reads their number again. */
static void sample_put_cores(struct job *job, struct sample *smp, uint64_t milli)
{
	unsigned cpus = milli < job->cores.cpus * 1000ULL ? 0 : (unsigned)get_nprocs();

	sample_set(smp, M_cores, milli);
	if (cpus > job->cores.cpus)
		job->cores.cpus = job->summary.cores.cpus = cpus;
}

void job_put_totals(const struct job *job, struct sample *smp, const struct account *totals)
{
	const struct metric_set *usable = &job->run->usable;

#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, totals->base);
#define DELAY_METRIC(base, ...)                                                                    \
	if (metric_has(usable, M_##base) && !totals->without_delays &&                             \
	    !(M_##base == M_blkio_delay && totals->blkio_wrong))                                   \
		sample_set(smp, M_##base, totals->base);
#define SPLIT_METRIC TASK_METRIC
#define ACCOUNT_METRIC TASK_METRIC
#define NET_METRIC(base, ...)                                                                      \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, totals->calls.base);
#define REST_METRIC(base, group, kind, unit, of, help)                                             \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base,                                                          \
			   kinds_leave(totals->of, totals->calls.of##_files,                       \
				       totals->calls.of##_sockets, totals->calls.of##_pipes,       \
				       totals->calls.of##_other));
#include "bpfmon/metrics.def"
}

static void sample_put_totals(struct job *job, struct sample *smp, const struct account *a)
{
	uint64_t milli;

	job_put_totals(job, smp, a);
	if (metric_has(&job->run->usable, M_cores) &&
	    cores_read(&job->cores, smp->elapsed_ns, a->cpu, &milli))
		sample_put_cores(job, smp, milli);
}

void job_drain_begin(struct job *job)
{
	job_release_held(job); /* its rows end now */
	memory_bound_drain(&job->bound);
	job->totals = job->removed;
	row_list_clear(&job->rows);
	job->nr_unread = 0;
	memset(job->sockets, 0, sizeof(job->sockets));
	spans_drain_begin(&job->spans);
}

void job_total(struct job *job, const struct account_key *key, const struct account *total)
{
	account_add(&job->totals, total);
	spans_total(&job->spans, key, total);
}

void job_slice(struct job *job, const struct slice *slice)
{
	if (row_list_add(&job->rows, slice))
		job->forgone += slice->nr;
	spans_slice(job, slice);
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
	account_untear(&job->totals);
	job->totals.cpu += tracker_unsplit(&job->books->tracker);
	row_list_sort(&job->rows);
	spans_drain_end(job);
	/* at the end what ends until its accounts are closed belongs to the interval */
	if (job->state == JOB_LEAVES || job->spec->is_view)
		return;
	job_bound_interval(job);
	spans_write_ended(job);
}

void job_bound_interval(struct job *job)
{
	memory_bound_interval(&job->bound, job->rows.all, job->rows.nr, &job->books->rows,
			      job->books->drain_boot_ns);
	spans_bound_interval(job);
}

/* To find the reason takes the processes that there are; of many, those suffice. */
static size_t live_pids(const struct job *job, int32_t pids[MAX_STALL_PIDS])
{
	size_t nr = 0;

	for (size_t i = 0; i < job->rows.nr && nr < MAX_STALL_PIDS; i++)
		if (!job->rows.all[i]->end_boot_ns)
			pids[nr++] = (int32_t)job->rows.all[i]->pid;
	return nr;
}

/*
 * An idle server is no stall, until something in it hangs: it is looked at again after the same
 * time. A single look may meet it at a page fault: the one at the next sample decides.
 */
static bool stall_is_busy(const struct job *job, struct stall *s, const int32_t *pids, size_t nr)
{
	const bool is_busy = !job->spec->is_idle(pids, nr), was_doubted = s->is_doubted;

	s->is_doubted = is_busy && !was_doubted;
	if (s->is_doubted)
		s->asked_ns -= s->after_ns;
	return is_busy && was_doubted;
}

static void job_put_stall(struct job *job, const struct stall_event *e)
{
	write_stall(&job->json, job->run, e);
	feeds_put(&job->feeds, &job->json);
	if (job->observer)
		job->observer->stall(job->observer_context, e);
}

/* Without the rights to look the event is repeated, and its reader looks. */
static void job_report_stall(struct job *job, uint64_t elapsed_ns)
{
	struct stall *s = &job->stall;
	int32_t pids[MAX_STALL_PIDS];
	size_t nr = live_pids(job, pids);

	s->asked_ns = elapsed_ns;
	if (job->spec->is_idle && !stall_is_busy(job, s, pids, nr))
		return;
	s->is_reported = true;
	job_put_stall(job, &(struct stall_event){ elapsed_ns, true, s->begun_ns, pids, nr });
}

static void job_note_stall(struct job *job, uint64_t elapsed_ns)
{
	struct stall *s = &job->stall;
	bool has_changed;

	s->after_ns = job->spec->stalled_after_ns;
	s->below_ppm = job->spec->stalled_below_ppm;
	has_changed = stall_look(s, elapsed_ns, &job->totals);
	if (s->is_stalled) {
		if (has_changed || (elapsed_ns - s->asked_ns >= s->after_ns &&
				    !(s->is_reported && job->spec->is_idle)))
			job_report_stall(job, elapsed_ns);
		return;
	}
	s->is_doubted = false;
	if (!s->is_reported)
		return;
	s->is_reported = false;
	job_put_stall(job, &(struct stall_event){ elapsed_ns, false, s->begun_ns, NULL, 0 });
}

void job_publish(struct job *job)
{
	uint64_t began_ns = job->books->tracker.began_ns;
	struct sample *smp = &job->held.smp;
	const struct account *totals = &job->totals;

	if (job->spec->is_view && job->state == JOB_LEAVES) /* without a drain of its own */
		began_ns = clock_ns(CLOCK_MONOTONIC);
	sample_reset(smp);
	smp->elapsed_ns = began_ns - job->start_ns;
	sample_put_totals(job, smp, totals);
	memory_sum(job->rows.all, job->rows.nr, &job->run->usable, smp);
	sample_read_files(job, smp);
	if (job->spec->tracker.cgroup)
		target_compare(job, smp, began_ns);
	books_consume(job->books);
	job->unread += job->nr_unread;
	job_write_heaviest(job, smp, &job->held.heaviest);
	/* also if the metric of forks is not wanted */
	job->summary.processes_total = processes_born(totals);
	job->summary.entered = totals->roots - job->seeded_roots;
	job->summary.left = totals->left;
	job->summary.blkio_wrong = totals->blkio_wrong > 0;
	if (job->spec->span_samples)
		spans_put_sample(job, smp);
	needed_watch_sample(job);
	job_hold_sample(job);
	job_note_stall(job, smp->elapsed_ns);
	limit_watch_check(job);
}

bool job_has_sample(const struct job *job)
{
	return job->held.smp.elapsed_ns == job->books->tracker.began_ns - job->start_ns;
}

void job_sample(struct job *job)
{
	books_drain(job->books, false);
	job_publish(job);
	feeds_flush(&job->feeds);
}

static void job_put_baseline(struct job *job)
{
	struct sample smp = { 0 };

	job_put_totals(job, &smp, &job->baseline);
	memcpy(job->run->baseline, smp.value, sizeof(job->run->baseline));
	job->run->baseline_have = smp.have;
	job->run->seeded_tasks = job->baseline.threads;
}

/* An attachment begins when all its processes have been found. */
static uint64_t attachment_begin(struct job *job)
{
	const struct cgroup_target *target = job->spec->tracker.cgroup;
	struct tracker *tracker = &job->books->tracker;
	struct run *run = job->run;

	run->targets = job->spec->targets;
	run->nr_targets = job->spec->nr_targets;
	if (target) {
		run->cgroup = target->cg.path;
		run->hierarchy = target->cg.is_v2 ? "unified" : target->controller;
	}
	job->seeded_roots = job_totals(job).roots;
	if (job->books->whole_node) {
		job_put_baseline(job);
		return clock_ns(CLOCK_MONOTONIC);
	}
	run->seed_ns = tracker->seed_ns;
	run->seeded_tasks = tracker_tracking(tracker)->seeded;
	tracker_baseline(tracker, run->baseline, &run->baseline_have);
	/* if it waited for the cgroup's first process, it begins with that */
	return job->spec->wait_start ? clock_ns(CLOCK_MONOTONIC) : tracker->seeded_ns;
}

void job_write_begin(struct job *job, uint64_t start_ns)
{
	uint64_t since_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;

	job->state = JOB_RUNS;
	job->start_ns = start_ns;
	job->run->start_epoch_ns = clock_ns(CLOCK_REALTIME) - since_ns;
	job->run->start_epoch_ns -= job->run->start_epoch_ns % 1000; /* as published */
	job->epoch_less_boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	pressure_restart(&job->host_pressure);
	write_meta(&job->json, job->run);
	feeds_put(&job->feeds, &job->json);
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
	const struct accounts *a = &job->books->tracker.accounts;
	struct account sum = job->removed;

	tracker_read_accounts(&job->books->tracker);
	spans_forget_totals(&job->spans);
	for (size_t i = 0; i < a->nr; i++) {
		if (!job_has(job, &a->keys[i]))
			continue;
		account_add(&sum, &a->totals[i]);
		spans_total(&job->spans, &a->keys[i], &a->totals[i]);
	}
	account_untear(&sum);
	sum.cpu += tracker_unsplit(&job->books->tracker);
	return sum;
}

void job_done(struct job *job)
{
	memory_bound_done(&job->bound);
	exact_peak_done(&job->exact);
	pss_reader_leave(job->pss_reader);
	pss_done(&job->pss);
	run_cgroup_done(&job->needed.cgroup);
	sample_reset(&job->held.smp);
	jsonw_done(&job->held.heaviest);
	cgroup_stat_done(&job->cgroup);
	block_io_done(&job->block_io);
	pressure_done(&job->host_pressure);
	pushed_done(&job->pushed);
	summary_done(&job->summary);
	jsonw_done(&job->json);
	heaviest_done(&job->heaviest);
	row_list_done(&job->rows);
	spans_done(&job->spans);
	free(job->early);
	free(job->left);
}
