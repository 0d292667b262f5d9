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
	write_process_event(&job->json, job->run, job->books->drained_ns - job->start_ns,
			    "pss_skipped", pid, reason);
	feeds_put(&job->feeds, &job->json);
}

static void job_open_files(struct job *job)
{
	const struct cgroup_target *target = job->spec->tracker.cgroup;
	char why[256];

	if (!target && job->spec->cgroup &&
	    !cgroup_target_find("/proc/self", job->spec->cgroup->path, &job->own_cgroup, why,
				sizeof(why)))
		target = &job->own_cgroup;
	cgroup_stat_open(&job->cgroup, target, job->run);
	needed_watch_open(job, target);
	job_open_block_io(job, target);
	if (metric_set_has_source(&job->run->usable, SOURCE_HOST))
		pressure_open(&job->host_pressure, HOST_MEMORY_PRESSURE);
}

static void job_note_missing(struct job *job)
{
	const struct optionals *o = &job->books->tracker.optional;

	if (o->missing[OPTIONAL_EXACT_PEAK][0]) {
		job->run->no_exact_peak = o->missing[OPTIONAL_EXACT_PEAK];
		log_warn("--exact-peak has no effect: %s", job->run->no_exact_peak);
	}
	if (o->missing[OPTIONAL_OOM][0])
		job->run->no_oom_kills = o->missing[OPTIONAL_OOM];
	job->summary.has_oom_kills = !job->run->no_oom_kills;
}

static int job_follow_processes(struct job *job, char *why, size_t size)
{
	const struct job_spec *o = job->spec;
	int err = tracker_seed(&job->books->tracker, o->targets, o->nr_targets);

	return err ? err : named_check(&job->books->tracker, o, why, size);
}

static int job_follow(struct job *job, char *why, size_t size)
{
	const struct job_spec *o = job->spec;

	if (o->is_view)
		return 0;
	if (job->books->whole_node)
		return job_join(job, why, size);
	if (o->command)
		return tracker_follow(&job->books->tracker, o->command);
	if (!o->tracker.cgroup)
		return job_follow_processes(job, why, size);
	job->target.id = o->tracker.cgroup->id;
	if (tracker_is_in_a_pid_namespace(&job->books->tracker))
		log_warn("processes that are in the cgroup already and outside of bpfmon's PID "
			 "namespace are "
			 "not seen: the kernel shows only those inside");
	return target_seed(job);
}

static void job_note_base(struct job *job)
{
	const struct tracking *t = tracker_tracking(&job->books->tracker);
	struct account of_accounts;

	tracker_totals(&job->books->tracker, &of_accounts);
	for (int i = 0; i < NR_LOSSES; i++)
		job->base.loss[i] = t->loss[i] - of_accounts.loss[i];
	job->base.repaired = tracker_repaired(&job->books->tracker);
	job->base.unrepaired = tracker_unrepaired(&job->books->tracker);
	job->base.socket_misses = tracker_socket_misses(&job->books->tracker);
	job->base.unnamed = job->books->unnamed;
	job->base.rows_lost = job->books->rows.lost;
	job->base.blocks_lost = tracker_blocks_lost(&job->books->tracker);
	job->base.peers_lost = tracker_peers_lost(&job->books->tracker);
	job->base.sockets_lost = tracker_sockets_lost(&job->books->tracker);
	if (!job->books->whole_node)
		return;
	job->base.memory_failures = memory_failures();
	job->base.drains = job->books->tracker.drains;
	job->base.drain_ns_total = job->books->tracker.drain_ns_total;
}

void job_init(struct job *job)
{
	memset(job, 0, sizeof(*job));
	job->host_pressure.fd = -1;
	cgroup_stat_init(&job->cgroup);
	run_cgroup_init(&job->needed.cgroup);
	pushed_init(&job->pushed);
}

static void job_describe(struct job *job, const struct job_spec *spec, struct books *books)
{
	job->spec = spec;
	job->run = spec->run;
	job->books = books;
	job->summary.complete = true;
	job->summary.is_attached = job->run->is_attached = !spec->command;
	job->cores.cpus = job->summary.cores.cpus = job->run->cpus;
	job->summary.by_cgroup = spec->tracker.cgroup;
	job_init_pss(job);
	job->pss.skipped = pss_skipped;
	job->pss.context = job;
	job_note_base(job);
}

/* In the books of a node all are read, and each job reports those that it was asked for. */
static void job_choose_metrics(struct job *job)
{
	const struct tracker *t = &job->books->tracker;
	struct run *run = job->run;

	run->usable = (struct metric_set){ 0 };
	for (int i = 0; i < NR_METRICS; i++) {
		run->unusable[i] = NULL;
		if (!metric_has(&run->wanted, (enum metric_id)i))
			continue;
		run->unusable[i] = t->unusable[i];
		if (metric_has(&t->usable, (enum metric_id)i))
			metric_put(&run->usable, (enum metric_id)i);
	}
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
	job_choose_metrics(job);
	if (!spec->is_view)
		job_open_files(job); /* at once: their values now are the baseline */
	limit_watch_open(job);
	if (!err && !books->whole_node)
		books_name_seeded(books);
	return err;
}
