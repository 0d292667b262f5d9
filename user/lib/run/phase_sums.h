/* SPDX-License-Identifier: BSD-2-Clause */
/* What the phases of each name used together. */
#ifndef RUN_PHASE_SUMS_H
#define RUN_PHASE_SUMS_H

#include "run/phase.h"

struct phase_sum {
	const char *text; /* in use as long as the phases; NULL: before the first mark */
	size_t nr;        /* phases of that name */
	size_t nr_shared; /* of these, those that no sample tells from phases of other names */
	uint64_t ns;      /* of all of them */
	uint64_t value[NR_METRICS]; /* of the others: counters summed, of gauges the largest */
	struct metric_set have;
};

struct phase_sums {
	struct phase_sum *all; /* owned; in the order in which their first phases begin */
	size_t nr;
	struct phase_sum shared; /* those with nr_shared, together; nr 0: there are none */
	bool has_equal;          /* a name has several phases */
};

/* To be given to phase_sums_done(), also after an error. -ENOMEM. */
int phase_sums_make(struct phase_sums *s, const struct phases *p);
void phase_sums_done(struct phase_sums *s);

#endif
