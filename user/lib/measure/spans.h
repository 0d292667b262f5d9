/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live spans of a job: each is an account of its own, for one process and what it causes to
 * exist from then on. A span ends with its last process, or where it was ended in place; its line
 * is written after the next drain, once the records of all its processes have come.
 */
#ifndef MEASURE_SPANS_H
#define MEASURE_SPANS_H

#include "measure/tally_view.h"
#include "run/span.h"

struct peer_process;
struct span_message;

/* One that has not ended, or of which not all records have come. */
struct live_span {
	struct tally tally; /* its own account, and as removed the spans in it that have ended */
	uint64_t id;        /* as in struct span, and so are these: */
	uint64_t parent;
	int32_t pid;
	bool in_place;
	struct span_label label;
	uint64_t start_epoch_ns, end_epoch_ns;
	char *text;                         /* owned: what the label points into */
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
	struct account now;   /* in a sample: all it used so far, the spans in it included */
	uint64_t nr_records;  /* of processes that were in its account at their end */
};

struct spans {
	struct tally_view *view; /* of the run, not owned; its lines go there */
	void *owner;             /* of their accounts in the books */
	struct live_span **all;  /* owned, and what they point to; by account, which is by begin */
	size_t nr, room;
	size_t nr_left; /* by the last drain */
	uint64_t last_id;
};

/* @owner: of the accounts of the run and of its spans, in the books of @v. */
void spans_init(struct spans *s, struct tally_view *v, void *owner);
/*
 * Begins or ends a span, as @sender asks for in @m, of which it takes the text. 0, and *@id is its
 * number; or a negative errno, and @why says why not, in a sentence without a full stop.
 */
int span_obey(struct spans *all, struct span_message *m, const struct peer_process *sender,
	      uint64_t *id, char *why, size_t size);

/* Whether @sender is a process of the job now, by what the kernel has of it. 0; else a negative
 * errno, and @why as above. */
int sender_check(struct spans *all, const struct peer_process *sender, char *why, size_t size);

/* What the job passes on of what the books report: */
void spans_drain_begin(struct spans *s);
/* Its totals are about to be passed on again. */
void spans_forget_totals(struct spans *s);
void spans_total(struct spans *s, const struct account_key *key, const struct account *total);
void spans_slice(struct spans *all, const struct slice *slice);
/* The drain is over: takes the memory of that moment, @elapsed_ns after the start of the run. */
void spans_drain_end(struct spans *all, uint64_t elapsed_ns);
/* Ends an interval of the upper bounds of their peaks, with the last drain. */
void spans_bound_interval(struct spans *all);
/* The record of a process; @p gets the number of its span. @is_left: it has not been freed. */
void spans_process(struct spans *all, const struct process_record *r, struct process *p,
		   bool is_left);
void spans_oom(struct spans *all, const struct account_key *key, const struct oom_kill *k);

/* Sets what each has used by the last drain, live spans in it included. */
void spans_add_up(struct spans *s);
/* After that: what @s has used, and holds. */
void span_take_sample(const struct live_span *s, struct sample *smp);
/* Adds what each has used so far, and its memory at the last drain, to @smp. */
void spans_put_sample(struct spans *all, struct sample *smp);
/* Writes the lines of those that have ended, and removes their accounts. */
void spans_write_ended(struct spans *all);
/*
 * When the job has ended, and all records are written: writes the line of one of those that are
 * left. False: there is none.
 */
bool spans_write_left(struct spans *all);
void spans_done(struct spans *s);

#endif
