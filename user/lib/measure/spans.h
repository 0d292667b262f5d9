/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The live spans of a job. Each is an account for one process and its later descendants. A span
 * ends with its last process, or when it is ended in place; its line is written after the next
 * drain, once the records of all its processes have come.
 */
#ifndef MEASURE_SPANS_H
#define MEASURE_SPANS_H

#include "measure/tally_view.h"
#include "run/span.h"

struct peer_process;
struct span_message;

/* A span that has not ended, or some of whose records have not come. */
struct live_span {
	struct tally tally; /* its account; removed: ended spans within it */
	uint64_t id;        /* as the following ones, see struct span */
	uint64_t parent;
	int32_t pid;
	bool in_place;
	struct span_label label;
	uint64_t start_epoch_ns, end_epoch_ns;
	char *text;                         /* owned; storage of label */
	struct live_span *above;            /* enclosing span, or NULL */
	unsigned depth;                     /* number of enclosing spans */
	size_t nr_within;                   /* live spans directly within */
	struct account_key account, before; /* its own; that of the process before */
	uint64_t serial;                    /* of the process that began it */
	uint64_t start_boot_ns, end_boot_ns;
	/* of the process that ended it in place, in this interval; 0: none */
	uint64_t left_serial;
	bool is_kept;        /* its process stays in it and reports its end */
	bool has_ended;      /* that report has come */
	struct account now;  /* at a sample: usage so far, including spans within */
	uint64_t nr_records; /* records of processes that ended in its account */
};

struct spans {
	struct tally_view *view; /* of the run; not owned */
	void *owner;             /* of the accounts in the books */
	struct live_span **all;  /* owned, with elements; sorted by account, hence by begin */
	size_t nr, room;
	size_t nr_left; /* after the last drain */
	uint64_t last_id;
};

/* @owner owns the accounts of the run and its spans in the books of @v. */
void spans_init(struct spans *s, struct tally_view *v, void *owner);
/*
 * Begins or ends a span as @sender requests in @m; takes the text of @m. Returns 0 with the span's
 * number in *@id, or a negative errno with the reason in @why, without a full stop.
 */
int span_handle_request(struct spans *all, struct span_message *m,
			const struct peer_process *sender, uint64_t *id, char *why, size_t size);

/*
 * Checks that @sender is a process of the job now, according to the kernel. Returns 0, or a
 * negative errno with @why as above.
 */
int sender_check(struct spans *all, const struct peer_process *sender, char *why, size_t size);

/* Reports of the books, passed on by the job: */
void spans_drain_begin(struct spans *s);
/* Zeroes the totals, before they are reported again. */
void spans_forget_totals(struct spans *s);
void spans_total(struct spans *s, const struct account_key *key, const struct account *total);
void spans_slice(struct spans *all, const struct slice *slice);
/*
 * The drain is over: takes the memory of that moment. @elapsed_ns is the time since the start of
 * the run.
 */
void spans_drain_end(struct spans *all, uint64_t elapsed_ns);
/* Ends an interval of the upper bounds of memory peaks at the last drain. */
void spans_bound_interval(struct spans *all);
/* Takes the record of a process, and sets p->span. @is_left is true if it has not been freed. */
void spans_process(struct spans *all, const struct process_record *r, struct process *p,
		   bool is_left);
void spans_oom(struct spans *all, const struct account_key *key, const struct oom_kill *k);

/* Computes the usage of each span at the last drain, including live spans within. */
void spans_add_up(struct spans *s);
/* After spans_add_up(): sets the usage and memory of @s, and its use of GPUs. */
void span_take_sample(const struct spans *all, const struct live_span *s, struct sample *smp);
/* Adds usage and memory of each span to @smp. */
void spans_put_sample(struct spans *all, struct sample *smp);
/* Writes the lines of spans that have ended, and removes their accounts. */
void spans_write_ended(struct spans *all);
/*
 * At the end of the job, after all records: writes one of the remaining spans. Returns false if
 * there is none.
 */
bool spans_write_left(struct spans *all);
void spans_done(struct spans *s);

#endif
