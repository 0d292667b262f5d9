// SPDX-License-Identifier: BSD-2-Clause
#include "measure/reports.h"

#include "measure/job.h"

void report_total(void *owner, const struct account_key *key, const struct account *total)
{
	for (struct job *job = owner; job; job = job->above)
		job_total(job, key, total);
}

void report_slice(void *owner, const struct slice *slice)
{
	for (struct job *job = owner; job; job = job->above)
		job_slice(job, slice);
}

void report_socket(void *owner, const struct socket_row *row)
{
	for (struct job *job = owner; job; job = job->above)
		job_socket(job, row);
}

void report_unread(void *owner)
{
	for (struct job *job = owner; job; job = job->above)
		job_unread(job);
}

void report_process(void *owner, const struct process_record *r)
{
	for (struct job *job = owner; job; job = job->above)
		job_process(job, r);
}

void report_oom(void *owner, const struct oom_event *e)
{
	for (struct job *job = owner; job; job = job->above)
		job_oom(job, e);
}
