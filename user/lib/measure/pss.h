/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSS and USS of a tree, read from /proc within a time budget: decides what to read next, and sums
 * up. A process that changes its mappings blocks while it is read, so reads are limited to a share
 * of the elapsed time. struct pss_reader does the reads.
 */
#ifndef MEASURE_PSS_H
#define MEASURE_PSS_H

#include "bpfmon/shared.h"
#include "measure/pss_reader.h"
#include "run/sample.h"
#include "run/summary.h"

#include <sys/types.h>

#define PSS_SAVED_NS (30 * 1000000000ULL) /* budget of this time can be saved up */

/* An address space, which processes may share. */
struct pss_space {
	uint64_t mm, serial, image; /* identify it: if one differs, it is another */
	pid_t pid;
	uint64_t resident_bytes, pages; /* now; a read costs time per page */
	uint64_t pss_bytes, uss_bytes;  /* at its last read */
	/* sample number of the last read (0: never), its size and duration */
	uint64_t read_at, read_pages, cost_ns;
	bool is_shared; /* by several processes, so that it outlives one */
	bool has_value;
	bool is_saving; /* budget is being saved up for it */
	bool skip_is_reported;
	bool is_refused, is_gone;
};

struct pss {
	uint64_t budget_ppm; /* share of the elapsed time in millionths; 0: off */
	/* Called for an address space that is skipped. */
	void (*skipped)(void *context, pid_t pid, const char *reason);
	void *context;
	struct pss_space *spaces; /* owned; sorted by mm */
	size_t nr_spaces;
	int64_t budget_ns, capacity_ns; /* negative if a read took longer than expected */
	int64_t saved_ns;               /* the part that is reserved for one address space */
	uint64_t last_ns;               /* CLOCK_MONOTONIC of the last sample */
	uint64_t nr_samples;            /* begun so far */
	uint64_t ns_per_1024;           /* measured cost of 1024 pages */
	struct pss_cost cost;
};

/* The caller sets skipped and context afterwards. */
void pss_init(struct pss *p, uint64_t budget_ppm, uint64_t interval_ns);
void pss_done(struct pss *p);
/*
 * Begins a sample at @now_ns: updates the address spaces from @rows, which must be sorted by them,
 * and the budget. Returns 0, or -ENOMEM with the address spaces unchanged.
 */
int pss_begin(struct pss *p, const struct drain_row *const *rows, size_t nr_rows, uint64_t now_ns);
/*
 * Sets @list to what to read now; it is empty if the budget suffices for none. The caller has it
 * read and calls pss_take(), or pss_list_done(). Returns 0, or -ENOMEM with an empty list.
 */
int pss_plan(struct pss *p, struct pss_list *list);
/*
 * Sets @list to all address spaces, those unread for longest first. Returns false with an empty
 * list if one was refused before, or if the budget does not suffice and not @is_urgent.
 */
bool pss_plan_all(struct pss *p, struct pss_list *list, bool is_urgent);
/* Takes the results of items from @nr_taken to @nr_done. */
void pss_take(struct pss *p, struct pss_list *list, size_t nr_done);
/*
 * Sums the PSS read since pss_begin(); unread memory counts as resident. Returns false if that is
 * more than a hundredth.
 */
bool pss_sum_whole(const struct pss *p, uint64_t *bytes);
/* Returns true if an address space may not be read. */
bool pss_is_refused(const struct pss *p);
/* Sets the metrics of @usable in @smp to the sums of known values. */
void pss_sum(struct pss *p, const struct metric_set *usable, struct sample *smp);

#endif
