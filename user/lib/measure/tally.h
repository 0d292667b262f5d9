/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sum of a set of accounts: totals, processes at the last drain, bound of the memory peak, and
 * summary. A run, a span, and a job of a node made of cgroups each have one. Independent of lines,
 * limits and listeners.
 */
#ifndef MEASURE_TALLY_H
#define MEASURE_TALLY_H

#include "measure/accounts.h"
#include "measure/gpus.h"
#include "measure/peak.h"
#include "measure/task_rows.h"
#include "run/process.h"
#include "run/sample.h"
#include "run/summary.h"

struct tally {
	const struct metric_set *usable; /* not owned; metrics of samples */
	struct account totals;           /* sum of its accounts at the last drain */
	struct account removed;          /* sum of accounts no longer in the books */
	struct row_list rows;            /* of the last drain, by address space */
	struct memory_bound bound;
	struct gpu_tally gpu;
	struct summary summary;
	uint64_t forgone; /* details lost for lack of memory */
};

void tally_init(struct tally *t, const struct metric_set *usable);
void tally_done(struct tally *t);

void tally_drain_begin(struct tally *t);
/* Add the totals of one of its accounts, or its processes. */
void tally_total(struct tally *t, const struct account *total);
void tally_slice(struct tally *t, const struct slice *slice);
/* The drain is over: makes the totals consistent, sorts the rows, takes their use of GPUs. */
void tally_drain_end(struct tally *t, const struct gpu_desk *gpus);
/*
 * Ends an interval of the upper bound of the peak with the last drain, @drain, which began at
 * @drain_ns.
 */
void tally_end_interval(struct tally *t, const struct rows *drain, uint64_t drain_ns);

/* Sets the usable metrics of @totals in @smp. @totals are those of @t or include them. */
void tally_put_totals(const struct tally *t, struct sample *smp, const struct account *totals);
void tally_put_memory(const struct tally *t, struct sample *smp);
/* Takes the account of the drivers of GPUs of a process that has ended. */
void tally_take_account(struct tally *t, const struct gpu_desk *gpus, uint64_t serial);
/* Takes the record of a process. @is_left is true if it has not been freed. */
void tally_record(struct tally *t, const struct process_record *r, bool is_left);

/*
 * Sets the usable memory metrics of @smp to the sums over @rows, which are sorted by address space.
 * A shared address space counts once.
 */
void memory_sum(const struct drain_row *const *rows, size_t nr_rows,
		const struct metric_set *usable, struct sample *smp);
/* Returns how many processes have been in the accounts that add up to @sum. */
uint64_t processes_born(const struct account *sum);
/* Returns the name of a loss in "losses" of the summary. */
const char *loss_name(int loss);

#endif
