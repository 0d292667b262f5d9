// SPDX-License-Identifier: BSD-2-Clause
/* Processes that have ended, and those that the kernel has killed. */
#include "measure/job.h"
#include "measure/record.h"
#include "run/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a program with set-user-ID executes is not the user's: it may have chosen the arguments. */
bool job_shows(const struct job *job, const struct process_record *r)
{
	const struct image *image = images_find(&job->books->images, r->image);
	const uid_t user = job->spec->shown_to;

	return !job->spec->hides_others ||
	       (r->uid == user && (!image || (image->uid == user && !image->has_mixed_ids)));
}

void job_emit(struct job *job, const struct process_record *r, const struct drain_row *row,
	      bool is_left)
{
	struct process p;

	record_read(&p, r, row, &job->books->images, &job->run->usable, job->epoch_less_boot_ns);
	if (!job_shows(job, r))
		p.exe = NULL;
	if (!job_shows(job, r) || job->spec->tracker.no_args) {
		p.args = NULL;
		p.args_length = 0;
		p.args_cut = false;
	}
	spans_process(job, r, &p, is_left);
	if (summary_add_process(&job->summary, &p))
		job->forgone++;
	write_process(&job->json, &p);
	feeds_put(&job->feeds, &job->json);
	if (job->spec->tracker.exact_peak &&
	    (is_left ? exact_peak_left(&job->exact, r, &p, row ? row->mm : 0)
		     : exact_peak_ended(&job->exact, r, &p)))
		job->forgone++;
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
	all = reallocarray(job->early, job->nr_early + 1, sizeof(*all));
	if (!all) {
		job->forgone++;
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
	memory_bound_ended(&job->bound, r);
	job_emit(job, r, NULL, false);
}

void job_oom(struct job *job, const struct oom_event *e)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct oom_kill k = {
		.pid = (int32_t)e->pid,
		.is_command = (pid_t)e->pid == job->spec->command,
		.has_rss = e->rss_pages > 0,
		.rss_bytes = e->rss_pages * page,
		.limit_bytes = e->limit_pages * page,
	};
	struct early_report *early;

	if (job_is_early(job, &early)) {
		if (early)
			*early = (struct early_report){ .is_oom = true, .oom = *e };
		return;
	}
	comm_copy(k.comm, e->comm, sizeof(e->comm));
	memcpy(k.cgroup, e->cgroup, sizeof(k.cgroup));
	summary_add_oom(&job->summary, &k);
	spans_oom(job, &e->account, &k);
	write_oom(&job->json, job->run, e->time_ns > job->start_ns ? e->time_ns - job->start_ns : 0,
		  &k);
	feeds_put(&job->feeds, &job->json);
}
