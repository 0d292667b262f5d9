/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a set of accounts adds up to: their totals, the processes that they had at the last drain,
 * the bound of their peak of memory, and a summary. Each of these is a tally: a run, a span in it,
 * and a job of a node that is made of cgroups. It knows nothing of lines, limits or listeners.
 */
#ifndef MEASURE_TALLY_H
#define MEASURE_TALLY_H

#include "measure/accounts.h"
#include "measure/peak.h"
#include "measure/task_rows.h"
#include "run/process.h"
#include "run/sample.h"
#include "run/summary.h"

struct tally {
	const struct metric_set *usable; /* not owned: what samples have */
	struct account totals;           /* of its accounts, by the last drain */
	struct account removed;          /* the sum of those that are not in the books any more */
	struct row_list rows;            /* of the last drain, by address space */
	struct memory_bound bound;
	struct summary summary;
	uint64_t forgone; /* details left out for lack of memory */
};

void tally_init(struct tally *t, const struct metric_set *usable);
void tally_done(struct tally *t);

/* A drain begins: forgets totals and rows of the last one. */
void tally_drain_begin(struct tally *t);
/* Adds the totals of one of its accounts, or its processes. */
void tally_total(struct tally *t, const struct account *total);
void tally_slice(struct tally *t, const struct slice *slice);
/* The drain is over: makes the totals consistent, and sorts the rows. */
void tally_drain_end(struct tally *t);
/* Ends an interval of the upper bound of its peak with the last drain, @drain at @drain_ns. */
void tally_end_interval(struct tally *t, const struct rows *drain, uint64_t drain_ns);

/* Sets what is usable of @totals in @smp, which are those of @t or more. */
void tally_put_totals(const struct tally *t, struct sample *smp, const struct account *totals);
/* Sets what the rows of the last drain hold in memory. */
void tally_put_memory(const struct tally *t, struct sample *smp);
/* Counts the record of a process; @is_left: it has not been freed. */
void tally_record(struct tally *t, const struct process_record *r, bool is_left);

/*
 * Sets the usable memory metrics of @smp to the sums over @rows; an address space that processes
 * share counts once. @rows are sorted by address space.
 */
void memory_sum(const struct drain_row *const *rows, size_t nr_rows,
		const struct metric_set *usable, struct sample *smp);
/* Returns the number of processes that there have been in the accounts with the sum @sum. */
uint64_t processes_born(const struct account *sum);
/* The name of a loss, as in "losses" of the summary. */
const char *loss_name(int loss);

#endif
