// SPDX-License-Identifier: BSD-2-Clause
/* Between samples: looks at memory, and, once the run is to end, sends the launcher its
 * processes. */
#include "base/clock.h"
#include "base/control.h"
#include "job/job.h"
#include "job/limit_watch.h"
#include "job/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 2000000ULL
#define LONGEST_PAUSE_NS 64000000ULL
#define LOOK_NS 5000000ULL         /* at the memory of the cgroup */
#define LOOK_SLOWLY_NS 50000000ULL /* where it holds what is no process's, as page cache */
#define PROCESS_BYTES 32           /* a number of a process, and its serial */

/* As many as there is room for; the rest of a run of thousands is sent when these have ended. */
static void limit_watch_send(struct job *job)
{
	const uint64_t at_ns = job->books->drain_boot_ns;
	char text[sizeof(((struct control *)0)->text)];
	size_t n = 0;

	for (size_t i = 0; i < job->rows.nr; i++) {
		const struct drain_row *row = job->rows.all[i];

		if (row->end_boot_ns)
			continue;
		if (n + PROCESS_BYTES >= sizeof(text)) {
			control_send(job->spec->control_fd, CONTROL_LIVING, 0, at_ns, text);
			n = 0;
		}
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%" PRIu32 ":%" PRIx64 " ",
				      row->pid, (uint64_t)row->serial);
	}
	if (n)
		control_send(job->spec->control_fd, CONTROL_LIVING, 0, at_ns, text);
	control_send(job->spec->control_fd, CONTROL_LIVING, 1, at_ns, NULL);
}

static void limit_watch_round(struct job *job)
{
	struct limit_watch *l = &job->limits;

	books_drain(job->books, false);
	limit_watch_send(job);
	feeds_flush(&job->feeds);
	l->pause_ns = l->pause_ns < LONGEST_PAUSE_NS ? l->pause_ns * 2 : LONGEST_PAUSE_NS;
	l->next_ns = clock_ns(CLOCK_MONOTONIC) + l->pause_ns;
}

void limit_watch_begin_end(struct job *job)
{
	struct limit_watch *l = &job->limits;

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
