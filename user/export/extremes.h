/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The largest value of each metric at a sample, and the mean over time of what holds at a moment.
 * Of cores, which hold since the sample before, the former over a time that is long enough, as the
 * summary has them.
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
	struct sample last;
	double product[NR_METRICS]; /* values times the ns until the next sample */
	uint64_t known_ns[NR_METRICS];
};

/* Errors are those of source_each(). */
int extremes_find(struct extremes *x, const struct exporter *e);
/*
 * A value counts for the time until the next sample, whatever the distance: a mark has one of its
 * own, and the last one is at the end, where there is nothing left. Only for what a sample has.
 */
double extremes_mean(const struct extremes *x, enum metric_id id);

#endif
