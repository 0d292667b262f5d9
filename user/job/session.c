// SPDX-License-Identifier: BSD-2-Clause
#include "job/session.h"

#include "base/clock.h"
#include "job/memory.h"
#include "wire/writer.h"

#include <bpf/libbpf.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define DRAIN_AGAIN 3 /* passes more, while a process is missing in them */
#define DRAIN_TRIES 3
#define HELD_UP_NS (NSEC_PER_MSEC / 2) /* on its way it did not run for so long */

static void read_files(struct session *s, struct sample *smp)
{
	if (s->options->tracker.cgroup)
		target_look(s);
	cgroup_stat_read(&s->cgroup, &s->run->usable, smp);
	pressure_read(&s->host_pressure, &s->run->usable, M_host_memory_pressure_some,
		      M_host_memory_pressure_full, smp);
}

void session_consume(struct session *s)
{
	ring_buffer__consume(s->ring);
}

static void keep_row(void *context, const struct drain_row *row)
{
	rows_add(context, row);
}

/* When all CPUs are busy there may be one more by now. */
static void put_cores(struct session *s, struct sample *smp, uint64_t milli)
{
	unsigned cpus = milli < s->cores.cpus * 1000ULL ? 0 : (unsigned)get_nprocs();

	sample_set(smp, M_cores, milli);
	if (cpus > s->cores.cpus)
		s->cores.cpus = s->summary.cores.cpus = cpus;
}

static void put_totals(struct session *s, struct sample *smp, const struct account *a)
{
	const struct metric_set *usable = &s->run->usable;
	uint64_t milli;

#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, a->base);
#define SPLIT_METRIC TASK_METRIC
#define ACCOUNT_METRIC TASK_METRIC
#include "bpfmon/metrics.def"
	if (metric_has(usable, M_cores) && cores_read(&s->cores, smp->elapsed_ns, a->cpu, &milli))
		put_cores(s, smp, milli);
	s->live = a->processes;
}

static void note_drain_time(struct session *s, uint64_t before_ns)
{
	s->drain_us[(s->tracker.drains - 1) % DRAIN_TIMES] =
		(uint32_t)((s->tracker.drain_ns_total - before_ns) / 1000);
}

/* Is that process alive, as far as its record tells? */
static bool is_alive(void *context, const struct met *m)
{
	const struct drain_row key = { .signal = m->signal, .serial = m->serial };
	struct process_record r;

	return !tracker_process(context, &key, &r) && !(r.flags & PROCESS_ENDED);
}

/* A pass under churn may miss the one task of a process that has its memory: then another one. */
static void read_missed(struct session *s)
{
	bool was_whole = tracker_visited_all(&s->tracker);

	rows_settle(&s->rows);
	s->nr_unread = 0;
	if (!tracker_reads_memory(&s->tracker) || (was_whole && !s->rows.nr_blank))
		return;
	for (int i = 0; i < DRAIN_AGAIN && rows_unread(&s->rows, is_alive, &s->tracker); i++) {
		tracker_drain_again(&s->tracker, keep_row, &s->rows);
		rows_settle(&s->rows);
	}
	s->nr_unread = rows_unread(&s->rows, is_alive, &s->tracker);
}

/* False: it waited for a CPU on its way, so that some tasks were met long before the others. */
static bool drain_at_once(struct session *s, bool whole)
{
	uint64_t before_ns = s->tracker.drain_ns_total, last_ns = s->tracker.began_ns, cpu_ns;

	/* whose record is here by now is not in the map any more: nobody is met twice */
	session_consume(s);
	memory_bound_drain(&s->bound);
	rows_again(&s->rows);
	s->drain_boot_ns = clock_ns(CLOCK_BOOTTIME);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (whole)
		tracker_drain_whole(&s->tracker, keep_row, &s->rows);
	else
		tracker_drain(&s->tracker, keep_row, &s->rows);
	read_missed(s);
	note_drain_time(s, before_ns);
	if (s->tracker.began_ns - last_ns > s->longest_ns)
		s->longest_ns = s->tracker.began_ns - last_ns;
	tracker_totals(&s->tracker, &s->totals);
	s->drained_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	return s->drained_ns - s->tracker.began_ns < cpu_ns + HELD_UP_NS;
}

/* The time of a sample is one moment: what was held up is done again. */
void session_drain(struct session *s, bool whole)
{
	rows_begin(&s->rows);
	for (int i = 0; i < DRAIN_TRIES; i++)
		if (drain_at_once(s, whole))
			break;
	rows_sort(&s->rows);
	s->unread += s->nr_unread;
	for (size_t i = 0; s->options->tracker.cgroup && i < s->rows.nr; i++)
		session_name(s, &s->rows.all[i]);
}

static void publish_pss(struct session *s, struct sample *smp)
{
	const struct metric_set *usable = &s->run->usable;

	if (metric_set_has_source(usable, SOURCE_PROCFS) &&
	    pss_sample(&s->pss, s->rows.by_memory, s->rows.nr, s->drained_ns, usable, smp))
		s->unnamed++;
}

void session_publish(struct session *s)
{
	struct sample smp = { .elapsed_ns = s->tracker.began_ns - s->start_ns };
	const struct account *totals = &s->totals;
	uint64_t began_ns = s->tracker.began_ns; /* what is heard meanwhile may drain, too */

	/* at once: what ends while PSS is read belongs to the next interval */
	session_consume(s);
	memory_bound_interval(&s->bound, s->rows.by_memory, s->rows.nr, &s->rows, s->drain_boot_ns);
	if (s->is_closing) /* nothing adds to them any more: they are the sum of the records */
		tracker_totals(&s->tracker, &s->totals);
	put_totals(s, &smp, totals);
	memory_sum(s->rows.by_memory, s->rows.nr, &s->run->usable, &smp);
	read_files(s, &smp);
	if (s->options->tracker.cgroup)
		target_compare(s, &smp, began_ns);
	publish_pss(s, &smp);
	session_consume(s);
	for (size_t i = 0; i < s->rows.nr; i++)
		images_touch(&s->images, s->rows.all[i].image, s->drained_ns);
	images_prune(&s->images, s->drained_ns);
	summary_add_sample(&s->summary, &smp);
	/* also where the forks were not asked for */
	s->summary.processes_total = totals->forks + totals->roots;
	s->summary.entered = totals->roots - s->seeded_roots;
	s->summary.left = totals->left;
	write_sample(&s->json, s->run, &smp);
	stream_put(&s->stream, &s->json);
	session_put_heaviest(s, &smp);
	sample_reset(&smp);
}

void session_sample(struct session *s)
{
	session_drain(s, false);
	session_publish(s);
	stream_flush(&s->stream);
}

/* An attachment begins when all that belongs to it is known. */
static uint64_t begin_attached(struct session *s)
{
	const struct cgroup_target *target = s->options->tracker.cgroup;
	struct run *run = s->run;
	struct account totals;

	run->targets = s->options->targets;
	run->nr_targets = s->options->nr_targets;
	if (target) {
		run->cgroup = target->cg.path;
		run->hierarchy = target->cg.is_v2 ? "unified" : target->controller;
	}
	run->seed_ns = s->tracker.seed_ns;
	run->seeded_tasks = tracker_tracking(&s->tracker)->seeded;
	tracker_baseline(&s->tracker, run->baseline, &run->baseline_have);
	tracker_totals(&s->tracker, &totals);
	s->seeded_roots = totals.roots;
	/* what was waited for begins when it is there */
	return s->options->wait_start ? clock_ns(CLOCK_MONOTONIC) : s->tracker.seeded_ns;
}

void session_start(struct session *s, uint64_t start_ns)
{
	uint64_t since_ns;

	if (!s->options->command)
		start_ns = begin_attached(s);
	since_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;

	s->start_ns = start_ns;
	s->run->start_epoch_ns = clock_ns(CLOCK_REALTIME) - since_ns;
	s->run->start_epoch_ns -= s->run->start_epoch_ns % 1000; /* as published */
	s->epoch_less_boot_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	pressure_restart(&s->host_pressure);
	write_meta(&s->json, s->run);
	stream_put(&s->stream, &s->json);
	session_sample(s);
}

uint64_t session_live(struct session *s)
{
	struct account totals;

	tracker_totals(&s->tracker, &totals);
	return totals.processes;
}

uint64_t session_processes(struct session *s)
{
	struct account totals;

	tracker_totals(&s->tracker, &totals);
	return totals.forks + totals.roots;
}

void session_done(struct session *s)
{
	ring_buffer__free(s->ring);
	tracker_close(&s->tracker);
	images_done(&s->images);
	memory_bound_done(&s->bound);
	exact_peak_done(&s->exact);
	pss_done(&s->pss);
	cgroup_stat_done(&s->cgroup);
	pressure_done(&s->host_pressure);
	pushed_done(&s->pushed);
	stream_done(&s->stream);
	summary_done(&s->summary);
	jw_done(&s->json);
	heaviest_done(&s->heaviest);
	rows_done(&s->rows);
	free(s->emitted);
}
