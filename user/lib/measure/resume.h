/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a tally, a view or a run as JSON, for the next process. The functions that write
 * append a member @key to the object in @j; those that read take absent members as 0.
 *
 * With the books of the last process (@same_books, kept.h) the accounts are still in the kernel.
 * With new books they begin anew, and what the last process had counted is added to them.
 */
#ifndef MEASURE_RESUME_H
#define MEASURE_RESUME_H

#include "base/json.h"
#include "measure/job.h"

#include <jansson.h>

/* Marks what is continued as incomplete because of @gap. */
void summary_set_gap(struct summary *sum, const char *gap);

void tally_keep(const struct tally *t, struct jsonw *j, const char *key);
/* @t has been opened. Returns 0 or a negative errno. */
int tally_resume(struct tally *t, const json_t *o, bool same_books);

void tally_view_keep(struct tally_view *v, struct jsonw *j, const char *key);
/* Continues @v, which has been opened and has its metrics; publishes nothing. Returns as above. */
int tally_view_resume(struct tally_view *v, const json_t *o, bool same_books);

void job_keep(struct job *job, struct jsonw *j, const char *key);
/*
 * Continues the run of @o in place of job_open() and job_start(). With new books, its live
 * processes are found again by PID and start time. Returns 0 or a negative errno; job_done() may
 * follow.
 */
int job_resume(struct job *job, const struct job_spec *spec, struct books *books, const json_t *o,
	       bool same_books);

#endif
