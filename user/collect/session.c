// SPDX-License-Identifier: BSD-2-Clause
#include "collect/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "collect/memory.h"
#include "collect/running.h"
#include "collect/record.h"
#include "wire/writer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void pss_skipped(void *context, pid_t pid, const char *reason)
{
	struct session *s = context;

	write_process_event(&s->json, s->run, s->drained_ns - s->start_ns, "pss_skipped", pid,
			    reason);
	stream_put(&s->stream, &s->json);
}

static void meanwhile(void *context)
{
	session_consume(context); /* the ring buffer may fill up within a long read */
}

static int pss_read_one(void *context, pid_t pid, uint64_t expected_ns, struct pss_reading *r)
{
	return pss_read(pid, expected_ns, r, meanwhile, context);
}

/* Nobody has told what a process runs that was there before us. */
static void name_seeded(void *context, const struct process_record *r)
{
	struct session *s = context;
	struct exec_event e;

	if (!(r->flags & PROCESS_SEEDED) || r->image != r->serial)
		return;
	if (image_of_running((pid_t)r->pid, !s->options->tracker.no_args, &e))
		return;
	e.image = r->image;
	if (images_add(&s->images, &e, clock_ns(CLOCK_MONOTONIC)))
		s->unnamed++;
}

static void open_files(struct session *s)
{
	cgroup_stat_open(&s->cgroup, s->options->cgroup, s->run);
	if (metric_set_has_source(&s->run->usable, SOURCE_HOST))
		pressure_open(&s->host_pressure, HOST_MEMORY_PRESSURE);
}

static void read_files(struct session *s, struct sample *smp)
{
	cgroup_stat_read(&s->cgroup, &s->run->usable, smp);
	pressure_read(&s->host_pressure, &s->run->usable, M_host_memory_pressure_some,
		      M_host_memory_pressure_full, smp);
}

static void tell_missing(struct session *s)
{
	const char(*missing)[sizeof(*s->tracker.optional.missing)] = s->tracker.optional.missing;

	if (missing[OPTIONAL_EXACT_PEAK][0]) {
		s->run->no_exact_peak = missing[OPTIONAL_EXACT_PEAK];
		log_warn("--exact-peak has no effect: %s", s->run->no_exact_peak);
	}
	if (missing[OPTIONAL_OOM][0])
		s->run->no_oom_kills = missing[OPTIONAL_OOM];
	s->summary.has_oom_kills = !s->run->no_oom_kills;
}

int session_open(struct session *s, const struct collector_options *o, char *why, size_t size)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->options = o;
	s->run = o->run;
	s->summary.complete = true;
	s->summary.is_attached = !o->command;
	pss_init(&s->pss, o->pss_ppm, s->run->interval_ns);
	s->pss.read = pss_read_one;
	s->pss.skipped = pss_skipped;
	s->pss.context = s;
	s->host_pressure.fd = -1;
	cgroup_stat_init(&s->cgroup);
	stream_init(&s->stream, o->stream_fd);
	err = images_init(&s->images);
	if (!err)
		err = tracker_open(&s->tracker, &o->tracker, why, size);
	if (err)
		return err;
	s->ring = tracker_events(&s->tracker, session_event, s);
	if (!s->ring) {
		err = -errno;
		snprintf(why, size, "the ring buffer cannot be mapped: %s", strerror(-err));
		return err;
	}
	tell_missing(s);
	err = o->command ? tracker_follow(&s->tracker, o->command)
			 : tracker_seed(&s->tracker, o->targets, o->nr_targets);
	if (err && o->command)
		snprintf(why, size, "the command's process %d cannot be followed: %s", o->command,
			 strerror(-err));
	else if (err)
		snprintf(why, size, "what runs cannot be followed: %s", strerror(-err));
	else
		tracker_each_process(&s->tracker, name_seeded, s);
	memcpy(&s->run->usable, &s->tracker.usable, sizeof(s->run->usable));
	memcpy(s->run->unusable, s->tracker.unusable, sizeof(s->run->unusable));
	open_files(s);
	return err;
}

void session_consume(struct session *s)
{
	ring_buffer__consume(s->ring);
}

static void keep_row(void *context, const struct drain_row *row)
{
	struct session *s = context;

	if (s->nr_rows == s->room_rows) {
		size_t room = s->room_rows ? s->room_rows * 2 : 256;
		struct drain_row *rows = reallocarray(s->rows, room, sizeof(*rows));

		if (!rows) {
			s->unnamed++;
			return;
		}
		s->rows = rows;
		s->room_rows = room;
	}
	s->rows[s->nr_rows++] = *row;
}

static void put_totals(struct session *s, struct sample *smp, const struct account *a)
{
	const struct metric_set *usable = &s->run->usable;
	uint64_t took = smp->elapsed_ns - s->last_elapsed_ns;

#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(usable, M_##base))                                                          \
		sample_set(smp, M_##base, a->base);
#define SPLIT_METRIC TASK_METRIC
#define ACCOUNT_METRIC TASK_METRIC
#include "bpfmon/metrics.def"
	if (metric_has(usable, M_cores) && took)
		sample_set(smp, M_cores, (a->cpu - s->last_cpu_ns) * 1000 / took);
	s->last_cpu_ns = a->cpu;
	s->last_elapsed_ns = smp->elapsed_ns;
	s->live = a->processes;
}

static void note_drain_time(struct session *s, uint64_t before_ns)
{
	s->drain_us[(s->tracker.drains - 1) % DRAIN_TIMES] =
		(uint32_t)((s->tracker.drain_ns_total - before_ns) / 1000);
}

void session_drain(struct session *s, bool whole)
{
	uint64_t before_ns = s->tracker.drain_ns_total;

	/* whose record is here by now is not in the map any more: nobody is met twice */
	session_consume(s);
	memory_bound_drain(&s->bound);
	s->nr_rows = 0;
	s->drain_boot_ns = clock_ns(CLOCK_BOOTTIME);
	if (whole)
		tracker_drain_whole(&s->tracker, keep_row, s);
	else
		tracker_drain(&s->tracker, keep_row, s);
	note_drain_time(s, before_ns);
	s->drained_ns = clock_ns(CLOCK_MONOTONIC);
}

static void publish_pss(struct session *s, struct sample *smp)
{
	const struct metric_set *usable = &s->run->usable;

	if (metric_set_has_source(usable, SOURCE_PROCFS) &&
	    pss_sample(&s->pss, s->rows, s->nr_rows, s->drained_ns, usable, smp))
		s->unnamed++;
}

void session_publish(struct session *s)
{
	struct sample smp = { .elapsed_ns = s->drained_ns - s->start_ns };
	struct account totals;
	int err = tracker_totals(&s->tracker, &totals);

	if (!err)
		put_totals(s, &smp, &totals);
	memory_sum(s->rows, s->nr_rows, &s->run->usable, &smp);
	read_files(s, &smp);
	publish_pss(s, &smp);
	session_consume(s);
	memory_bound_interval(&s->bound, s->rows, s->nr_rows, s->drain_boot_ns);
	for (size_t i = 0; i < s->nr_rows; i++)
		images_touch(&s->images, s->rows[i].image, s->drained_ns);
	images_prune(&s->images, s->drained_ns);
	summary_add_sample(&s->summary, &smp);
	if (!err) /* also where the forks were not asked for */
		s->summary.processes_total = totals.forks + totals.roots;
	write_sample(&s->json, s->run, &smp);
	stream_put(&s->stream, &s->json);
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
	struct run *run = s->run;

	run->targets = s->options->targets;
	run->nr_targets = s->options->nr_targets;
	run->seed_ns = s->tracker.seed_ns;
	run->seeded_tasks = tracker_tracking(&s->tracker)->seeded;
	tracker_baseline(&s->tracker, run->baseline, &run->baseline_have);
	return s->tracker.seeded_ns;
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

	return tracker_totals(&s->tracker, &totals) ? 0 : totals.processes;
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
	stream_done(&s->stream);
	summary_done(&s->summary);
	jw_done(&s->json);
	free(s->rows);
	free(s->emitted);
}
