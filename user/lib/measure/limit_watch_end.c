// SPDX-License-Identifier: BSD-2-Clause
/* Between samples: looks at memory, and, once the run is to end, sends the launcher its
 * processes. */
#include "base/clock.h"
#include "base/control.h"
#include "measure/job.h"
#include "measure/limit_watch.h"
#include "measure/job_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 2000000ULL
#define LONGEST_PAUSE_NS 64000000ULL
#define LOOK_NS 5000000ULL         /* at the memory of the cgroup */
#define LOOK_SLOWLY_NS 50000000ULL /* where it holds what is no process's, as page cache */
#define PROCESS_BYTES 32           /* a number of a process, and its serial */
#define ROUND_PACKETS 60           /* that a socket, a quarter of which is full, has room for */

static uint64_t limit_watch_ended(const struct job *job)
{
	const uint64_t born = processes_born(&job->totals), live = job->totals.processes;
	const uint64_t ended = born > live ? born - live : 0;

	return ended > job->limits.ended_before ? ended - job->limits.ended_before : 0;
}

static void limit_watch_send_ended(const struct job *job, int what)
{
	char ended[24];

	snprintf(ended, sizeof(ended), "%" PRIu64, limit_watch_ended(job));
	control_send(job->spec->control_fd, CONTROL_LIVING, what, job->books->drain_boot_ns, ended);
}

/* As many as there is room for; the rest of a run of thousands is sent when these have ended. */
static void limit_watch_send(struct job *job)
{
	const uint64_t at_ns = job->books->drain_boot_ns;
	char text[sizeof(((struct control *)0)->text)];
	size_t n = 0, nr = 0;

	if (!control_has_room(
		    job->spec->control_fd)) /* the launcher still acts on the last round */
		return;
	for (size_t i = 0; i < job->rows.nr && nr < ROUND_PACKETS; i++) {
		const struct drain_row *row = job->rows.all[i];

		if (row->end_boot_ns)
			continue;
		if (n + PROCESS_BYTES >= sizeof(text)) {
			control_send(job->spec->control_fd, CONTROL_LIVING, 0, at_ns, text);
			n = 0;
			nr++;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%" PRIu32 ":%" PRIx64 " ",
				      row->pid, (uint64_t)row->serial);
	}
	if (n)
		control_send(job->spec->control_fd, CONTROL_LIVING, 0, at_ns, text);
	limit_watch_send_ended(job, LIVING_ALL);
}

/*
 * In the kernel, for what forks faster than it is found: with the rights that the launcher has. An
 * agent, and a bpfmon that lends rights, end only what the run's user could end.
 */
static void limit_watch_guard(struct job *job)
{
	const struct job_spec *spec = job->spec;
	const uint32_t uid = spec->hides_others && spec->shown_to ? spec->shown_to : END_ANY;
	struct books *b = job->books;

	if (!b->whole_node)
		tracker_end(&b->tracker, 0, uid);
	for (size_t i = 0; b->whole_node && i < b->nr_owners; i++)
		if (job_has(job, &b->owners[i].account))
			tracker_end(&b->tracker, b->owners[i].account.tree, uid);
}

void limit_watch_leave(struct job *job)
{
	struct books *b = job->books;

	if (!job->limits.is_ending)
		return;
	limit_watch_send_ended(job, LIVING_OVER);
	if (!b->whole_node)
		tracker_end_over(&b->tracker, 0);
	for (size_t i = 0; b->whole_node && i < b->nr_owners; i++)
		if (job_has(job, &b->owners[i].account))
			tracker_end_over(&b->tracker, b->owners[i].account.tree);
}

void limit_watch_kill(struct job *job)
{
	struct limit_watch *l = &job->limits;

	if (!l->is_ending || l->is_killing)
		return;
	l->is_killing = true;
	l->pause_ns = FIRST_PAUSE_NS;
	l->next_ns = clock_ns(CLOCK_MONOTONIC);
}

static void limit_watch_round(struct job *job)
{
	struct limit_watch *l = &job->limits;

	if (l->is_killing)
		limit_watch_guard(job); /* each time: spans and runs within may have begun */
	books_drain(job->books, false);
	limit_watch_send(job);
	feeds_flush(&job->feeds);
	l->pause_ns = l->pause_ns < LONGEST_PAUSE_NS ? l->pause_ns * 2 : LONGEST_PAUSE_NS;
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + l->pause_ns;
}

void limit_watch_begin_end(struct job *job)
{
	struct limit_watch *l = &job->limits;

	l->ended_before = limit_watch_ended(job);
	l->is_ending = true;
	l->pause_ns = FIRST_PAUSE_NS;
	limit_watch_send(job); /* of the sample */
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + l->pause_ns;
}

void limit_watch_report(struct job *job)
{
	job->limits.is_reported = true;
}

/* A cgroup holds more than its processes do: what they have is seen by a drain only. */
static void limit_watch_look(struct job *job)
{
	struct limit_watch *l = &job->limits;
	struct sample smp = { 0 };
	uint64_t held;

	l->next_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
	if (!cgroup_stat_usage(&job->cgroup, &held) || held <= l->memory_at)
		return;
	books_drain(job->books, false);
	memory_sum(job->rows.all, job->rows.nr, &job->run->usable, &smp);
	if ((sample_has(&smp, M_rss) && smp.value[M_rss] > l->memory_at) ||
	    (needed_watch_look(job) && job->needed.now_bytes > l->memory_at))
		job_publish(job);
	feeds_flush(&job->feeds);
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_SLOWLY_NS;
}

/* What the kernel has counted may be more than a sample, which is later, finds. */
static void limit_watch_take_report(struct job *job)
{
	struct limit_watch *l = &job->limits;
	struct tree_peak peak;

	l->is_reported = false;
	if (!tracker_peak(&job->books->tracker, &peak))
		l->reported_bytes = peak.peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	job_sample(job);
}

/* When the run, or what is to be looked at, has lasted for too long; 0: never. */
static uint64_t limit_watch_due_ns(const struct job *job)
{
	uint64_t due_ns = job->limits.wall_at ? job->start_ns + job->limits.wall_at : 0;

	if (job->limits.is_ending)
		return job->limits.next_ns;
	if (job->limits.has_cgroup && job->limits.memory_at &&
	    (!due_ns || job->limits.next_ns < due_ns))
		due_ns = job->limits.next_ns;
	return due_ns;
}

void limit_watch_attend(struct job *job)
{
	uint64_t due_ns;

	if (!job->spec->nr_limits || job->state != JOB_RUNS)
		return;
	if (job->limits.is_reported && !job->limits.is_ending)
		limit_watch_take_report(job);
	due_ns = limit_watch_due_ns(job);
	if (!due_ns || clock_ns(CLOCK_MONOTONIC) < due_ns)
		return;
	if (job->limits.is_ending)
		limit_watch_round(job);
	else if (job->limits.wall_at && due_ns == job->start_ns + job->limits.wall_at)
		job_sample(job);
	else
		limit_watch_look(job);
}

int limit_watch_wait(const struct job *job, int wait_ms)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), due_ns = limit_watch_due_ns(job);
	uint64_t left_ms;

	if (!job->spec->nr_limits || job->state != JOB_RUNS || !due_ns)
		return wait_ms;
	left_ms = due_ns > now_ns ? (due_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	if (left_ms > INT32_MAX)
		left_ms = INT32_MAX;
	return wait_ms < 0 || left_ms < (uint64_t)wait_ms ? (int)left_ms : wait_ms;
}
