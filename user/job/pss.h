/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSS and USS of a tree, read from /proc within a budget of time.
 *
 * A process that changes its mappings while it is read has to wait: so the cost of reads is
 * measured and extrapolated, and all reads take no more than a share of the time that passes.
 */
#ifndef JOB_PSS_H
#define JOB_PSS_H

#include "bpfmon/shared.h"
#include "job/pss_read.h"
#include "model/sample.h"
#include "model/summary.h"

#include <sys/types.h>

#define PSS_SAVED_NS (30 * 1000000000ULL) /* the budget of this time can be saved up */

/* An address space, which processes may share. */
struct pss_space {
	uint64_t mm, serial, image; /* if any of them differs it is another one */
	pid_t pid;
	uint64_t resident_bytes, pages;        /* now; the pages are what a read walks over */
	uint64_t pss_bytes, uss_bytes;         /* when it was last read */
	uint64_t read_at, read_pages, cost_ns; /* number of that sample (0: never read) */
	bool is_shared; /* by several processes: it remains when one of them ends */
	bool has_value;
	bool is_saving; /* the budget is being saved up for it */
	bool is_told;   /* that it is skipped has been reported */
	bool is_refused, is_gone;
};

struct pss {
	uint64_t budget_ppm; /* of the time that passes, in millionths; 0: nothing is read */
	/* Reads one: 0 or a negative errno. Reports one that is skipped. */
	int (*read)(void *context, pid_t pid, uint64_t expected_ns, struct pss_reading *r);
	void (*skipped)(void *context, pid_t pid, const char *reason);
	void *context;
	struct pss_space *spaces; /* owned; by mm */
	size_t nr_spaces;
	int64_t budget_ns, capacity_ns; /* below 0: a read took longer than expected */
	int64_t saved_ns;               /* the part of the budget that is saved for one */
	uint64_t last_ns;               /* CLOCK_MONOTONIC, of the last sample */
	uint64_t nr_samples;
	uint64_t ns_per_1024; /* cost of 1024 pages, as measured */
	struct pss_cost cost;
};

/* The caller then sets the callbacks and their context. */
void pss_init(struct pss *p, uint64_t budget_ppm, uint64_t interval_ns);
void pss_done(struct pss *p);
/*
 * Reads as many of the address spaces in @rows, which are sorted by them, as the budget allows, and
 * sets those of @usable in @smp to the sums of what is known. -ENOMEM: nothing was read.
 */
int pss_sample(struct pss *p, const struct drain_row *const *rows, size_t nr_rows, uint64_t now_ns,
	       const struct metric_set *usable, struct sample *smp);

#endif
