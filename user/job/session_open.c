// SPDX-License-Identifier: BSD-2-Clause
/* How a session begins: the programs, whom they follow, what these run. */
#include "base/clock.h"
#include "base/log.h"
#include "job/named.h"
#include "job/record.h"
#include "track/running.h"
#include "job/session.h"
#include "wire/writer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

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
static void name_running(struct session *s, uint32_t pid, uint64_t image)
{
	struct exec_event e;

	if (image_of_running((pid_t)pid, !s->options->tracker.no_args, &e))
		return;
	e.image = image;
	if (images_add(&s->images, &e, clock_ns(CLOCK_MONOTONIC)))
		s->unnamed++;
}

static void name_seeded(void *context, const struct process_record *r)
{
	if (r->image == r->serial)
		name_running(context, r->pid, r->image);
}

void session_name(struct session *s, const struct drain_row *row)
{
	if (row->image == row->serial && !row->end_boot_ns && !images_find(&s->images, row->image))
		name_running(s, row->pid, row->image);
}

static void open_files(struct session *s)
{
	const struct cgroup_target *target = s->options->tracker.cgroup;
	char why[256];

	if (!target && s->options->cgroup &&
	    !cgroup_target_find("/proc/self", s->options->cgroup->path, &s->own_cgroup, why,
				sizeof(why)))
		target = &s->own_cgroup;
	cgroup_stat_open(&s->cgroup, target, s->run);
	if (metric_set_has_source(&s->run->usable, SOURCE_HOST))
		pressure_open(&s->host_pressure, HOST_MEMORY_PRESSURE);
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

static int follow_processes(struct session *s, char *why, size_t size)
{
	const struct job_spec *o = s->options;
	int err = tracker_seed(&s->tracker, o->targets, o->nr_targets);

	return err ? err : named_check(&s->tracker, o, why, size);
}

static int follow(struct session *s, char *why, size_t size)
{
	const struct job_spec *o = s->options;

	if (o->command)
		return tracker_follow(&s->tracker, o->command);
	if (!o->tracker.cgroup)
		return follow_processes(s, why, size);
	s->target.id = o->tracker.cgroup->id;
	if (tracker_is_in_a_pid_namespace(&s->tracker))
		log_warn("whoever is in the cgroup already and is outside of our PID namespace is "
			 "not seen: the kernel shows us only who is inside");
	return target_seed(s);
}

int session_open(struct session *s, const struct job_spec *o, char *why, size_t size)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->options = o;
	s->run = o->run;
	s->summary.complete = true;
	s->summary.is_attached = s->run->is_attached = !o->command;
	s->cores.cpus = s->summary.cores.cpus = s->run->cpus;
	s->summary.by_cgroup = o->tracker.cgroup;
	pss_init(&s->pss, o->pss_ppm, s->run->interval_ns);
	s->pss.read = pss_read_one;
	s->pss.skipped = pss_skipped;
	s->pss.context = s;
	s->host_pressure.fd = -1;
	cgroup_stat_init(&s->cgroup);
	pushed_init(&s->pushed);
	stream_init(&s->stream, o->stream_fd);
	s->with_recorder = (struct patience){ .watched_fd = o->control_fd,
					      .limit_ns = PATIENCE_WITH_RECORDER_NS };
	s->stream.patience = &s->with_recorder;
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
	*why = '\0'; /* of programs that were tried */
	err = follow(s, why, size);
	if (err && o->command)
		snprintf(why, size, "the command's process %d cannot be followed: %s", o->command,
			 strerror(-err));
	else if (err && !*why)
		snprintf(why, size, "what runs cannot be followed: %s", strerror(-err));
	memcpy(&s->run->usable, &s->tracker.usable, sizeof(s->run->usable));
	memcpy(s->run->unusable, s->tracker.unusable, sizeof(s->run->unusable));
	open_files(s); /* at once: what they say now is not ours */
	if (!err)
		tracker_each_process(&s->tracker, name_seeded, s);
	return err;
}
