// SPDX-License-Identifier: BSD-2-Clause
/* What the processes of a run wait for, at its samples. */
#include "base/clock.h"
#include "measure/job.h"

#include <stdlib.h>

static bool job_has_waits(const struct job *job)
{
	return metric_set_has_source(&job->view.run->usable, SOURCE_WAIT);
}

static void waits_drop(struct run *run, const char *why)
{
	for (int i = 0; i < NR_WAITED; i++)
		if (metric_has(&run->usable, waited_metric((enum waited)i)))
			run->unusable[waited_metric((enum waited)i)] = why;
	metric_set_clear_source(&run->usable, SOURCE_WAIT);
}

/* The command's process sleeps until it may execute the command. */
void job_open_waits(struct job *job)
{
	const struct job_spec *spec = job->spec;
	const pid_t first = spec->command ? spec->command : spec->nr_targets ? spec->targets[0] : 0;
	unsigned counts[NR_WAITED] = { 0 };

	job->waits.count = spec->count_sleepers;
	if (!job_has_waits(job))
		return;
	if (!job->waits.count)
		waits_drop(job->view.run, "not supported by this program");
	else if (first && job->waits.count(first, 1, 0, counts) > 0 && counts[W_wait_unseen])
		waits_drop(job->view.run,
			   "needs the right to read /proc/PID/wchan of the processes, as with "
			   "CAP_SYS_PTRACE");
}

/* Returns false if the budget is used up. */
static bool job_look_at_wait(struct job *job, struct wait_member *m, uint64_t now_ns)
{
	struct wait_budget *budget = &job->view.books->waits;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct process_record r;
	unsigned threads;

	if (budget->left_ns <= 0)
		return false;
	if (!tracker_process(&job->view.books->tracker, m->row, &r, &threads))
		wait_times_look(&job->waits, m, &r, threads, now_ns);
	budget->left_ns -= (int64_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
	return true;
}

void job_look_waits(struct job *job)
{
	const struct tally *t = &job->view.tally;
	const uint64_t now_ns = job->view.books->drain_boot_ns;
	struct wait_times *w = &job->waits;
	struct wait_member **order;

	if (!job_has_waits(job))
		return;
	wait_budget_earn(&job->view.books->waits, clock_ns(CLOCK_MONOTONIC));
	if (wait_times_begin(w, t->rows.all, t->rows.nr, now_ns)) {
		job->view.tally.forgone++;
		return;
	}
	order = wait_times_order(w);
	job->view.tally.forgone += !order;
	for (size_t i = 0; order && i < w->nr && job_look_at_wait(job, order[i], now_ns); i++)
		;
	free(order);
}

void job_put_waits(struct job *job, struct sample *smp)
{
	const struct account *a = &job->view.tally.totals;
	const uint64_t ran_ns = a->cpu + a->runqueue_wait;

	if (!job_has_waits(job))
		return;
	wait_times_end(&job->waits, a->lifetime > ran_ns ? a->lifetime - ran_ns : 0,
		       job->view.books->drain_boot_ns, job->state == JOB_LEAVES);
	wait_times_put(&job->waits, &job->view.run->usable, smp);
}
