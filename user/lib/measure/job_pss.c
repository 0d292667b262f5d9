// SPDX-License-Identifier: BSD-2-Clause
/* PSS of samples: a sample is held while a thread reads its PSS; nothing else waits. */
#include "base/clock.h"
#include "base/procstat.h"
#include "measure/job.h"
#include "measure/live.h"
#include "run/writer.h"

#include <errno.h>

#define HOLD_NS NSEC_PER_SEC /* longest time to hold a line */
/*
 * Without --pss, PSS is read only for the memory that the run needs, within a hundredth of the
 * time, which may be spent in advance and saved up.
 */
#define NEEDED_PPM 10000
#define NEEDED_AT_ONCE_NS (100 * NSEC_PER_MSEC)
#define NEEDED_SAVED_NS NSEC_PER_SEC

/*
 * The event loop plans a list of reads, submits it to the thread, and holds the line of the sample
 * until an eventfd signals that the list is done, but not beyond the next drain or a second: then
 * the line lacks the missing values. Later results go into the next sample, counted as postponed.
 * No list is planned while another is read. A result is kept only if its process still has that
 * address space and program.
 */

void job_init_pss(struct job *job)
{
	const struct job_spec *spec = job->spec;
	struct pss *p = &job->pss;

	pss_init(p, spec->pss_ppm ? spec->pss_ppm : NEEDED_PPM, job->view.run->interval_ns);
	if (spec->pss_ppm)
		return;
	p->budget_ns = NEEDED_AT_ONCE_NS;
	p->capacity_ns = NEEDED_SAVED_NS;
}

/* Returns true if samples have PSS. */
static bool job_puts_pss(const struct job *job)
{
	return metric_set_has_source(&job->view.run->usable, SOURCE_PROCFS);
}

int job_start_pss(struct job *job)
{
	int err;

	if (!job_puts_pss(job) && !metric_has(&job->view.run->usable, M_rss))
		return 0;
	err = pss_reader_make(&job->pss_reader, smaps_read, job->spec->pss_delay_ns);
	return err || !job_puts_pss(job) ? err : pss_reader_start(job->pss_reader);
}

int job_pss_fd(const struct job *job)
{
	return job->pss_reader ? pss_reader_fd(job->pss_reader) : -1;
}

bool job_take_reading(struct job *job)
{
	size_t nr_done;
	struct pss_list *list = pss_reader_results(job->pss_reader, &nr_done);

	pss_take(&job->pss, list, nr_done);
	return nr_done == list->nr;
}

bool job_begin_reading(struct job *job)
{
	struct pss_list list;

	if (pss_plan(&job->pss, &list))
		job->view.tally.forgone++;
	if (!list.nr)
		return false;
	pss_reader_submit(job->pss_reader, &list);
	return true;
}

/*
 * Returns false if the sample has nothing to wait for. Reads for an earlier sample may take long
 * and are waited for only at the end of the run.
 */
static bool sample_begin_pss(struct job *job)
{
	struct held_sample *held = &job->held;
	bool is_idle = job_take_reading(job);

	held->has_spaces = !pss_begin(&job->pss, job->view.tally.rows.all, job->view.tally.rows.nr,
				      job->view.books->drained_ns);
	job->view.tally.forgone += !held->has_spaces;
	held->wants_list = !is_idle && job->state == JOB_LEAVES && job->pss.nr_spaces;
	return held->wants_list || (is_idle && held->has_spaces && job_begin_reading(job));
}

bool job_read_all_pss(struct job *job, bool is_urgent)
{
	struct pss_list list;

	if (!job_take_reading(job) ||
	    pss_begin(&job->pss, job->view.tally.rows.all, job->view.tally.rows.nr,
		      job->view.books->drained_ns))
		return false;
	if (pss_reader_start(job->pss_reader) || !pss_plan_all(&job->pss, &list, is_urgent))
		return false;
	pss_reader_submit(job->pss_reader, &list);
	return true;
}

static void sample_put_pss(struct job *job)
{
	struct held_sample *held = &job->held;
	uint64_t pss;

	job_take_reading(job);
	if (!held->has_spaces)
		return;
	pss_sum(&job->pss, &job->view.run->usable, &job->view.smp);
	if (sample_has(&job->view.smp, M_rss) && pss_sum_whole(&job->pss, &pss))
		needed_record_pss(&job->view.tally.summary.seen, pss, job->view.smp.value[M_rss],
				  job->view.smp.elapsed_ns);
}

/* Writes the held sample, if any, with the PSS known now. */
static void job_release_sample(struct job *job)
{
	struct held_sample *held = &job->held;

	if (!job->view.is_held)
		return;
	job->view.is_held = false;
	if (job->pss_reader && job_puts_pss(job))
		sample_put_pss(job);
	tally_view_put_sample(&job->view);
	if (job->spec->process_samples && job->heaviest.nr)
		feeds_put_spare(&job->view.feeds, &held->heaviest, job->heaviest.nr);
	live_processes_publish(&job->view);
}

void job_hold_sample(struct job *job)
{
	job->view.is_held = true;
	job->held.until_ns = clock_ns(CLOCK_MONOTONIC) + HOLD_NS;
	if (!job->pss_reader || !job_puts_pss(job) || !sample_begin_pss(job))
		job_release_sample(job);
}

/* Also checks the limits, which may be of PSS. */
void job_release_held(struct job *job)
{
	if (!job->view.is_held)
		return;
	job_release_sample(job);
	job_was_sampled(job);
}

uint64_t job_samples_made(const struct job *job)
{
	return job->view.tally.summary.samples + job->view.is_held;
}

void job_release_overdue(struct job *job)
{
	if (!job->view.is_held || clock_ns(CLOCK_MONOTONIC) < job->held.until_ns)
		return;
	job_release_held(job);
	feeds_flush(&job->view.feeds);
}

int job_pss_wait(const struct job *job, int wait_ms)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = job->held.until_ns;
	int left_ms = now_ns < until_ns ? (int)((until_ns - now_ns) / NSEC_PER_MSEC) + 1 : 0;

	if (!job->view.is_held || (wait_ms >= 0 && wait_ms < left_ms))
		return wait_ms;
	return left_ms;
}

struct pss_cost job_pss_cost(const struct job *job)
{
	struct pss_cost cost = job->pss.cost;
	uint64_t busy_ns = job->pss_reader ? pss_reader_busy_ns(job->pss_reader) : 0;

	cost.ns_total += busy_ns;
	if (busy_ns > cost.ns_max)
		cost.ns_max = busy_ns;
	return cost;
}
