/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live spans of a job: each is an account of its own, for one process and what it causes to
 * exist from then on. A span ends with its last process, or where it was ended in place; its line
 * is written after the next drain, once the records of all its processes have come.
 */
#ifndef MEASURE_SPANS_H
#define MEASURE_SPANS_H

#include "measure/accounts.h"
#include "measure/peak.h"
#include "measure/task_rows.h"
#include "run/span.h"

struct job;
struct peer_process;
struct span_message;

/* One that has not ended, or of which not all records have come. */
struct live_span {
	struct span span;
	char *text;                         /* owned: what the label of @span points into */
	struct live_span *above;            /* the span in which it began; NULL: the run */
	unsigned depth;                     /* of those above it */
	size_t nr_within;                   /* live spans directly in it */
	struct account_key account, before; /* its own; the one that the process was in before */
	uint64_t serial;                    /* of the process that began it */
	uint64_t start_boot_ns, end_boot_ns;
	uint64_t left_serial; /* of the process that has ended it in place, in this interval; 0:
				 none */
	bool is_kept;         /* its process stays in it, and says its end */
	bool has_ended;       /* it has said so */
	struct account own;   /* the totals of its account, when last read */
	struct account ended; /* the sum of the spans in it that have ended */
	struct account now;   /* in a sample: all it used so far, the spans in it included */
	uint64_t nr_records;  /* of processes that were in its account at their end */
	struct memory_bound bound;
	struct row_list rows; /* of the last drain, those of spans within included */
};

struct spans {
	struct live_span **all; /* owned, and what they point to; by account, which is by begin */
	size_t nr, room;
	size_t nr_left; /* by the last drain */
	uint64_t last_id;
};

/*
 * Begins or ends a span, as @sender asks for in @m, of which it takes the text. 0, and *@id is its
 * number; or a negative errno, and @why says why not, in a sentence without a full stop.
 */
int span_obey(struct job *job, struct span_message *m, const struct peer_process *sender,
	      uint64_t *id, char *why, size_t size);

/* Whether @sender is a process of the job now, by what the kernel has of it. 0; else a negative
 * errno, and @why as above. */
int sender_check(struct job *job, const struct peer_process *sender, char *why, size_t size);

/* What the job passes on of what the books report: */
void spans_drain_begin(struct spans *s);
/* Its totals are about to be passed on again. */
void spans_forget_totals(struct spans *s);
void spans_total(struct spans *s, const struct account_key *key, const struct account *total);
void spans_slice(struct job *job, const struct slice *slice);
/* The drain is over: takes the memory of that moment. */
void spans_drain_end(struct job *job);
/* Ends an interval of the upper bounds of their peaks, with the last drain. */
void spans_bound_interval(struct job *job);
/* The record of a process; @p gets the number of its span. @is_left: it has not been freed. */
void spans_process(struct job *job, const struct process_record *r, struct process *p,
		   bool is_left);
void spans_oom(struct job *job, const struct account_key *key, const struct oom_kill *k);

/* Sets what each has used by the last drain, live spans in it included. */
void spans_add_up(struct spans *s);
/* After that: what @s has used, and holds. */
void span_take_sample(const struct job *job, const struct live_span *s, struct sample *smp);
/* Adds what each has used so far, and its memory at the last drain, to @smp. */
void spans_put_sample(struct job *job, struct sample *smp);
/* Writes the lines of those that have ended, and removes their accounts. */
void spans_write_ended(struct job *job);
/*
 * When the job has ended, and all records are written: writes the line of one of those that are
 * left. False: there is none.
 */
bool spans_write_left(struct job *job);
void spans_done(struct spans *s);

#endif
