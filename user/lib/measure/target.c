// SPDX-License-Identifier: BSD-2-Clause
#include "measure/target.h"

#include "base/clock.h"
#include "measure/job.h"
#include "run/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A restarted service gets its cgroup again within this time. */
#define GRACE_NS (2 * NSEC_PER_SEC)
/* The kernel updates CPU time at ticks, at least 100 a second. */
#define TICK_NS (10 * NSEC_PER_MSEC)

/* Block I/O of a job. The programs count only the one cgroup that it uses. */

static void block_io_refuse(struct job *job, const char *why)
{
	struct run *run = job->view.run;

	snprintf(job->view.block_io.why, sizeof(job->view.block_io.why), "%s", why);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->source != SOURCE_BLOCK || !metric_has(&run->usable, id))
			continue;
		run->unusable[i] = job->view.block_io.why;
		metric_drop(&run->usable, id);
	}
}

void job_open_block_io(struct job *job, const struct cgroup_target *target)
{
	struct tracker *t = &job->view.books->tracker;
	char why[200];
	uint64_t id;

	if (!metric_set_has_source(&job->view.run->usable, SOURCE_BLOCK))
		return;
	if (job->view.books->whole_node) {
		block_io_refuse(job, "the agent counts it only for jobs of the node");
		return;
	}
	id = block_target_id(target, why, sizeof(why));
	if (!id)
		block_io_refuse(job, why);
	else
		tracker_block_follow(t, id);
}

/* Counts the block I/O of the recreated cgroup. */
static void job_reopen_block_io(struct job *job)
{
	char why[200];
	uint64_t id;

	if (job->view.books->whole_node ||
	    !metric_set_has_source(&job->view.run->usable, SOURCE_BLOCK))
		return;
	id = block_target_id(job->cgroup.target, why, sizeof(why));
	if (id)
		tracker_block_follow(&job->view.books->tracker, id);
}

static void block_take(void *context, const struct block_key *key, const struct block_count *count)
{
	block_io_add(context, key, count);
}

void job_read_block_io(struct job *job)
{
	struct tally_view *v = &job->view;

	if (!metric_set_has_source(&v->run->usable, SOURCE_BLOCK))
		return;
	block_io_begin(&v->block_io);
	v->has_block_io = !tracker_each_block(&v->books->tracker, block_take, &v->block_io);
}

/*
 * The hooks recognize a tracked cgroup by id, and by its path when it is recreated; where a cgroup
 * namespace hides the path, target_look() finds it at the next sample. Each sample compares what
 * the hooks count with the cgroup's own files. The kernel accounts CPU time of a cgroup at ticks:
 * when a running task is moved, the time since its last tick goes to the new cgroup.
 * `cpu_uncertain_seconds` is one tick for each such move, or the difference to the cgroup's own
 * total if that is less.
 */

static const struct cgroup_target *target_named(const struct job *job)
{
	return job->spec->tracker.cgroup;
}

int target_seed(struct job *job)
{
	const pid_t own[] = { getpid(), getppid(), job->spec->recorder, 0 };

	return tracker_seed_cgroup(&job->view.books->tracker, job->target.id,
				   cgroup_target_depth(target_named(job)), own);
}

static void target_report(struct job *job, uint64_t time_ns, const char *event)
{
	/* still waiting for the run's begin */
	if (!job->view.start_ns || time_ns < job->view.start_ns)
		return;
	write_cgroup_event(&job->view.json, job->view.run, time_ns - job->view.start_ns, event,
			   target_named(job)->cg.path);
	feeds_put(&job->view.feeds, &job->view.json);
}

static void target_note_removed(struct job *job, uint64_t time_ns)
{
	job->target.gone_ns = time_ns;
	target_report(job, time_ns, "cgroup_removed");
}

static void target_note_made(struct job *job, uint64_t id, uint64_t time_ns)
{
	job->target.id = id;
	job->target.gone_ns = 0;
	job->target.is_new = job->target.was_remade = true;
	cgroup_stat_reopen(&job->cgroup);
	job_reopen_block_io(job);
	target_report(job, time_ns, "cgroup_recreated");
}

void target_event(struct job *job, const struct cgroup_event *e)
{
	if (e->news == CGROUP_MADE)
		target_note_made(job, e->id, e->time_ns);
	else if (e->news == CGROUP_REMOVED && e->id == job->target.id)
		target_note_removed(job, e->time_ns);
	else if (e->news == CGROUP_MOVES && job->state != JOB_ENDED)
		tracker_drain(&job->view.books->tracker, NULL, NULL);
}

void target_look(struct job *job)
{
	uint64_t id = cgroup_target_id(target_named(job)), now = clock_ns(CLOCK_MONOTONIC);

	if (job->view.start_ns)                 /* before the run begins no event can be written */
		books_consume(job->view.books); /* they have the exact times */
	if (id == job->target.id || (!id && job->target.gone_ns))
		return;
	if (!id) {
		target_note_removed(job, now);
		return;
	}
	target_note_made(job, id, now);
	target_seed(job);
}

void target_compare(struct job *job, const struct sample *smp, uint64_t since_ns)
{
	uint64_t took_ns = clock_ns(CLOCK_MONOTONIC) - since_ns + 2 * TICK_NS;
	uint64_t ours = smp->value[M_cpu], its = smp->value[M_cgroup_cpu];
	int64_t more = (int64_t)(its - ours), step = more - job->target.reported_ns;
	uint64_t tolerated = job->view.run->cpus * took_ns + TICK_NS;

	job->target.has_differed = sample_has(smp, M_cpu) && sample_has(smp, M_cgroup_cpu);
	if (!job->target.has_differed)
		return;
	/* live processes go on between the two readings, and an exit takes time, too */
	job->target.differed_ns =
		(uint64_t)llabs(more) + (job->view.tally.totals.processes
						 ? job->view.run->cpus * (took_ns - TICK_NS)
						 : TICK_NS);
	if (tolerated < its / 100)
		tolerated = its / 100;
	if ((uint64_t)llabs(step) <= tolerated && !job->target.is_new)
		return;
	job->target.reported_ns = more;
	if (job->target.is_new) { /* the last value of the old cgroup is unknown */
		job->target.is_new = false;
		return;
	}
	write_cgroup_difference(&job->view.json, job->view.run, smp, target_named(job)->cg.path);
	feeds_put(&job->view.feeds, &job->view.json);
}

/* Returns the kernel's tick, at which it accounts CPU time. */
static uint64_t tick_ns(void)
{
	struct timespec tick;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick))
		return TICK_NS;
	return (uint64_t)tick.tv_sec * NSEC_PER_SEC + (uint64_t)tick.tv_nsec;
}

uint64_t target_unsure_ns(const struct job *job)
{
	const struct tracking *t = tracker_tracking(&job->view.books->tracker);
	uint64_t all = t->seeded - job->view.run->seeded_tasks + t->moved_out;
	uint64_t late = all > t->moves_seen ? all - t->moves_seen : 0;

	uint64_t most =
		t->moves_running * tick_ns() + late * (job->view.books->longest_ns + tick_ns());

	if (job->target.was_remade || !job->target.has_differed || most < job->target.differed_ns)
		return most;
	return job->target.differed_ns;
}

uint64_t target_end_ns(const struct job *job)
{
	return job->target.gone_ns ? job->target.gone_ns + GRACE_NS : UINT64_MAX;
}
