/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates what the threads of a run waited for. The time that a process was off the CPU is exact;
 * at samples, within a budget, it is given to the reasons that its threads are seen to wait for.
 */
#ifndef MEASURE_WAIT_TIMES_H
#define MEASURE_WAIT_TIMES_H

#include "bpfmon/shared.h"
#include "measure/task_rows.h"
#include "run/waited.h"

#include <sys/types.h>

/* See sleepers_count(). */
typedef int (*count_sleepers_fn)(pid_t pid, unsigned threads, unsigned turn,
				 unsigned counts[NR_WAITED]);

/* CPU time that may be spent on examining processes: a share of the time, for all runs together. */
struct wait_budget {
	uint64_t earned_ns; /* CLOCK_MONOTONIC of the last income; 0 before the first */
	int64_t left_ns;
};

/* Adds the income since the last call. */
void wait_budget_earn(struct wait_budget *b, uint64_t now_ns);

/* A live process. */
struct wait_member {
	uint64_t serial;
	struct account_key account;
	uint64_t off_ns;     /* time off the CPU when it was last examined */
	uint64_t waiting_ns; /* part of it that is given to no reason yet */
	uint64_t looked_ns;  /* CLOCK_BOOTTIME of that */
	unsigned threads;
	const struct drain_row *row; /* of the last drain */
};

struct wait_times {
	count_sleepers_fn count; /* NULL: nothing is examined */
	struct wait_member *all; /* owned; by serial */
	size_t nr;
	uint64_t given[NR_WAITED]; /* at this sample, so far */
	uint64_t ns[NR_WAITED];    /* only grow; their sum is up to @off_ns */
	uint64_t off_ns;           /* of all threads */
	unsigned turn;
};

void wait_times_done(struct wait_times *w);
/*
 * Takes the live processes of a drain at @now_ns (CLOCK_BOOTTIME). Returns 0, or -ENOMEM: their
 * time is given to no reason.
 */
int wait_times_begin(struct wait_times *w, const struct drain_row *const *rows, size_t nr,
		     uint64_t now_ns);
/*
 * Returns an owned array of the members in the order of examination, those unexamined for longest
 * first; NULL if out of memory.
 */
struct wait_member **wait_times_order(const struct wait_times *w);
/*
 * Examines a member with the record @r, and gives its time off the CPU to the reasons seen. Without
 * a waiting thread it is kept for later.
 */
void wait_times_look(struct wait_times *w, struct wait_member *m, const struct process_record *r,
		     unsigned threads, uint64_t now_ns);
/*
 * Ends the sample. All reasons together have the time that all threads were off the CPU, @off_ns,
 * less what is kept for live processes; @is_last keeps nothing.
 */
void wait_times_end(struct wait_times *w, uint64_t off_ns, uint64_t now_ns, bool is_last);
/* Sets the usable metrics in @smp. */
void wait_times_put(const struct wait_times *w, const struct metric_set *usable,
		    struct sample *smp);

#endif
