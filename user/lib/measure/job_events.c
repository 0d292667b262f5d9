// SPDX-License-Identifier: BSD-2-Clause
/* Processes that have ended, and those that the kernel has killed. */
#include "base/memory.h"
#include "measure/job.h"
#include "measure/record.h"
#include "run/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void job_emit(struct job *job, const struct process_record *r, const struct drain_row *row,
	      bool is_left)
{
	struct process p;

	record_read(&p, r, row, &job->view.books->images, &job->view.run->usable,
		    job->view.epoch_less_boot_ns);
	if (!tally_view_shows(&job->view, r))
		p.exe = NULL;
	if (!tally_view_shows(&job->view, r) || job->spec->tracker.no_args) {
		p.args = NULL;
		p.args_length = 0;
		p.args_cut = false;
	}
	tally_record(&job->view.tally, r, is_left);
	spans_process(&job->spans, r, &p, is_left);
	if (summary_add_process(&job->view.tally.summary, &p))
		job->view.tally.forgone++;
	write_process(&job->view.json, &p);
	feeds_put(&job->view.feeds, &job->view.json);
	if (job->spec->tracker.exact_peak &&
	    (is_left ? exact_peak_left(&job->exact, r, &p, row ? row->mm : 0)
		     : exact_peak_ended(&job->exact, r, &p)))
		job->view.tally.forgone++;
	if (job->pushed.is_on)
		senders_add_ended(&job->pushed.senders, r);
}

/* What the books have reported, as it was. */
struct early_report {
	bool is_oom;
	union {
		struct process_record process;
		struct oom_event oom;
	};
};

/*
 * Whether the run has no first line yet. An agent follows a command from its exec on, and is told a
 * little later when that was: a short one has ended by then. NULL without memory, which is counted.
 */
static bool job_is_early(struct job *job, struct early_report **report)
{
	struct early_report *all;

	*report = NULL;
	if (job->state != JOB_OPEN)
		return false;
	all = memory_reallocarray(job->early, job->nr_early + 1, sizeof(*all));
	if (!all) {
		job->view.tally.forgone++;
		return true;
	}
	job->early = all;
	*report = &all[job->nr_early++];
	return true;
}

void job_report_early(struct job *job)
{
	for (size_t i = 0; i < job->nr_early; i++)
		if (job->early[i].is_oom)
			job_oom(job, &job->early[i].oom);
		else
			job_process(job, &job->early[i].process);
	free(job->early);
	job->early = NULL;
	job->nr_early = 0;
}

void job_process(struct job *job, const struct process_record *r)
{
	struct early_report *early;

	if (job_is_early(job, &early)) {
		if (early)
			*early = (struct early_report){ .process = *r };
		return;
	}
	job_emit(job, r, NULL, false);
}

void job_oom(struct job *job, const struct oom_event *e)
{
	const struct oom_kill k = oom_kill_read(e, job->spec->command);
	struct early_report *early;

	if (job_is_early(job, &early)) {
		if (early)
			*early = (struct early_report){ .is_oom = true, .oom = *e };
		return;
	}
	spans_oom(&job->spans, &e->account, &k);
	tally_view_oom(&job->view, &k, e->time_ns);
}
