/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The largest value of each metric in a sample, and the mean of gauges over time. The value of
 * cores is that of the time since an earlier sample, which has to be long enough, as in the
 * summary.
 */
#ifndef EXPORT_EXTREMES_H
#define EXPORT_EXTREMES_H

#include "export/export.h"
#include "run/sample.h"

struct extremes {
	struct metric_set have;
	struct cores cores;
	uint64_t max[NR_METRICS];
	uint64_t max_at_ns[NR_METRICS]; /* since the start; that of the first sample with it */
	struct sample last;
	double product[NR_METRICS];    /* the sum of values times the ns until the next sample */
	uint64_t known_ns[NR_METRICS]; /* the sum of these times */
};

/* Reads all samples. Errors are those of source_each(). */
int extremes_find(struct extremes *x, const struct exporter *e);
/* The peak of the run's resident memory: the exact one, else the bound of the summary, else the
 * largest at a sample. False: none is known. */
bool extremes_rss_peak(const struct extremes *x, const struct summary *s, uint64_t *bytes);
/*
 * Whether the largest value of a memory metric can stand for the run's: not where the samples have
 * missed a short run, which held more resident than the largest virtual memory, or resident memory
 * but no private one.
 */
bool extremes_have_memory(const struct extremes *x, const struct summary *s, enum metric_id id);
/*
 * The mean of a gauge. A value is weighted by the time until the next sample: distances differ, as
 * a mark has a sample of its own, and the last sample has no time left. Only for a metric in
 * x->have.
 */
double extremes_mean(const struct extremes *x, enum metric_id id);

/* What processes had used before the attachment: for formats that count from their start. */

struct baseline {
	uint64_t value[NR_METRICS]; /* counters; 0: nothing, or not known */
	uint64_t age_ns; /* of the oldest process, when the run began; 0: it has no record yet */
};

/* Reads counters and age; both are 0 where a command was run. Errors are those of source_each(). */
int baseline_read(struct baseline *b, struct exporter *e);
/* Reads the counters alone, which are in the meta line. */
void baseline_read_counters(struct baseline *b, const struct exporter *e);

#endif
