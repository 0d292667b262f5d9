/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSS and USS of a tree, read from /proc within a budget of time: what to read next, and the sums.
 *
 * A process that changes its mappings while it is read has to wait: so the cost of reads is
 * measured and extrapolated, and all reads take no more than a share of the time that passes. The
 * reads themselves are made by struct pss_reader.
 */
#ifndef MEASURE_PSS_H
#define MEASURE_PSS_H

#include "bpfmon/shared.h"
#include "measure/pss_reader.h"
#include "run/sample.h"
#include "run/summary.h"

#include <sys/types.h>

#define PSS_SAVED_NS (30 * 1000000000ULL) /* the budget of this time can be saved up */

/* An address space, which processes may share. */
struct pss_space {
	uint64_t mm, serial, image; /* if any of them differs it is another one */
	pid_t pid;
	uint64_t resident_bytes, pages;        /* now; the pages are what a read walks over */
	uint64_t pss_bytes, uss_bytes;         /* when it was last read */
	uint64_t read_at, read_pages, cost_ns; /* the last sample before that (0: never read) */
	bool is_shared; /* by several processes: it remains when one of them ends */
	bool has_value;
	bool is_saving; /* the budget is being saved up for it */
	bool is_told;   /* that it is skipped has been reported */
	bool is_refused, is_gone;
};

struct pss {
	uint64_t budget_ppm; /* of the time that passes, in millionths; 0: nothing is read */
	/* Reports one that is skipped. */
	void (*skipped)(void *context, pid_t pid, const char *reason);
	void *context;
	struct pss_space *spaces; /* owned; by mm */
	size_t nr_spaces;
	int64_t budget_ns, capacity_ns; /* below 0: a read took longer than expected */
	int64_t saved_ns;               /* the part of the budget that is saved for one */
	uint64_t last_ns;               /* CLOCK_MONOTONIC, of the last sample */
	uint64_t nr_samples;            /* that have begun */
	uint64_t ns_per_1024;           /* cost of 1024 pages, as measured */
	struct pss_cost cost;
};

/* The caller then sets the callback and its context. */
void pss_init(struct pss *p, uint64_t budget_ppm, uint64_t interval_ns);
void pss_done(struct pss *p);
/*
 * A sample begins, at @now_ns: renews the list of address spaces from @rows, which are sorted by
 * them, and the budget. -ENOMEM: they are still those of the sample before.
 */
int pss_begin(struct pss *p, const struct drain_row *const *rows, size_t nr_rows, uint64_t now_ns);
/*
 * Sets @list to what is to be read now; it is empty if the budget does not suffice for any. The
 * caller has it read and calls pss_take(), or pss_list_done(). -ENOMEM: the list is empty.
 */
int pss_plan(struct pss *p, struct pss_list *list);
/*
 * The same of all address spaces, the largest of which are read first. False: one was refused
 * before, or the budget does not suffice for all, unless @is_urgent; and @list is empty.
 */
bool pss_plan_all(struct pss *p, struct pss_list *list, bool is_urgent);
/* Takes what has been read: the items of @list from @nr_taken to @nr_done. */
void pss_take(struct pss *p, struct pss_list *list, size_t nr_done);
/*
 * The sum of what was read since the last pss_begin(). False: more than a hundredth of the resident
 * memory could not be read; less than that counts as resident.
 */
bool pss_sum_whole(const struct pss *p, uint64_t *bytes);
/* True: one of them may not be read. */
bool pss_is_refused(const struct pss *p);
/* Sets those of @usable in @smp to the sums of what is known. */
void pss_sum(struct pss *p, const struct metric_set *usable, struct sample *smp);

#endif
