/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The largest value of each metric at a sample, and the mean over all samples that have it. Of
 * cores over a time that is long enough, as the summary has them.
 */
#ifndef EXPORT_EXTREMES_H
#define EXPORT_EXTREMES_H

#include "export/export.h"
#include "model/cores.h"

struct extremes {
	struct metric_set have;
	struct cores cores;
	uint64_t max[NR_METRICS];
	uint64_t max_at_ns[NR_METRICS]; /* since the start; the first sample that has it */
	double sum[NR_METRICS];
	uint64_t count[NR_METRICS];
};

/* Errors are those of source_each(). */
int extremes_find(struct extremes *x, const struct exporter *e);

#endif
