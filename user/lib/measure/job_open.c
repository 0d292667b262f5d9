// SPDX-License-Identifier: BSD-2-Clause
/* How a job begins: finds the processes to follow, and what they run. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "measure/job.h"
#include "measure/named.h"
#include "measure/record.h"
#include "run/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void pss_skipped(void *context, pid_t pid, const char *reason)
{
	struct job *job = context;

	if (!job->spec->pss_ppm)
		return;
	write_process_event(&job->view.json, job->view.run,
			    job->view.books->drained_ns - job->view.start_ns, "pss_skipped", pid,
			    reason);
	feeds_put(&job->view.feeds, &job->view.json);
}

static void job_open_files(struct job *job)
{
	const struct cgroup_target *target = job->spec->tracker.cgroup;
	char why[256];

	if (!target && job->spec->cgroup &&
	    !cgroup_target_find("/proc/self", job->spec->cgroup->path, &job->own_cgroup, why,
				sizeof(why)))
		target = &job->own_cgroup;
	cgroup_stat_open(&job->cgroup, target, job->view.run);
	needed_watch_open(job, target);
	job_open_block_io(job, target);
	if (metric_set_has_source(&job->view.run->usable, SOURCE_HOST))
		pressure_open(&job->host_pressure, HOST_MEMORY_PRESSURE);
}

static void job_note_missing(struct job *job)
{
	const struct optionals *o = &job->view.books->tracker.optional;

	if (o->missing[OPTIONAL_EXACT_PEAK][0]) {
		job->view.run->no_exact_peak = o->missing[OPTIONAL_EXACT_PEAK];
		log_warn("--exact-peak has no effect: %s", job->view.run->no_exact_peak);
	}
}

static int job_follow_processes(struct job *job, char *why, size_t size)
{
	const struct job_spec *o = job->spec;
	int err = tracker_seed(&job->view.books->tracker, o->targets, o->nr_targets);

	return err ? err : named_check(&job->view.books->tracker, o, why, size);
}

static int job_follow(struct job *job, char *why, size_t size)
{
	const struct job_spec *o = job->spec;

	if (job->view.books->whole_node)
		return job_join(job, why, size);
	if (o->command)
		return tracker_follow(&job->view.books->tracker, o->command);
	if (!o->tracker.cgroup)
		return job_follow_processes(job, why, size);
	job->target.id = o->tracker.cgroup->id;
	if (tracker_is_in_a_pid_namespace(&job->view.books->tracker))
		log_warn("processes that are in the cgroup already and outside of bpfmon's PID "
			 "namespace are "
			 "not seen: the kernel shows only those inside");
	return target_seed(job);
}

void job_init(struct job *job)
{
	memset(job, 0, sizeof(*job));
	tally_view_init(&job->view);
	job->host_pressure.fd = -1;
	cgroup_stat_init(&job->cgroup);
	run_cgroup_init(&job->needed.cgroup);
	pushed_init(&job->pushed);
}

static void job_describe(struct job *job, const struct job_spec *spec, struct books *books)
{
	job->spec = spec;
	tally_view_open(&job->view, spec->run, books);
	job->view.is_idle = spec->is_idle;
	job->view.stall.after_ns = spec->stalled_after_ns;
	job->view.stall.below_ppm = spec->stalled_below_ppm;
	job->view.shown_to = spec->shown_to;
	job->view.hides_others = spec->hides_others;
	spans_init(&job->spans, &job->view, job);
	job->view.tally.summary.is_attached = job->view.run->is_attached = !spec->command;
	job->view.tally.summary.by_cgroup = spec->tracker.cgroup;
	job_init_pss(job);
	job->pss.skipped = pss_skipped;
	job->pss.context = job;
}

int job_open(struct job *job, const struct job_spec *spec, struct books *books, char *why,
	     size_t size)
{
	int err;

	job_describe(job, spec, books);
	job_note_missing(job);
	*why = '\0'; /* it may be of programs that were tried */
	err = job_follow(job, why, size);
	if (err && spec->command)
		snprintf(why, size, "the command's process %d cannot be followed: %s",
			 spec->command, strerror(-err));
	else if (err && !*why)
		snprintf(why, size, "what runs cannot be followed: %s", strerror(-err));
	tally_view_choose_metrics(&job->view);
	job_open_files(job); /* at once: their values now are the baseline */
	limit_watch_open(job);
	if (!err && !books->whole_node)
		books_name_seeded(books);
	return err;
}
