/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maximum of each metric over the samples, and the time average of gauges. For cores the
 * intervals must be long enough, as in the summary.
 */
#ifndef EXPORT_EXTREMES_H
#define EXPORT_EXTREMES_H

#include "export/export.h"
#include "run/sample.h"

struct extremes {
	struct metric_set have;
	struct cores cores;
	uint64_t max[NR_METRICS];
	uint64_t max_at_ns[NR_METRICS]; /* since the start; the first sample with the maximum */
	struct sample last;
	double product[NR_METRICS];    /* sum of values times ns until the next sample */
	uint64_t known_ns[NR_METRICS]; /* sum of these times */
};

/* Reads all samples. Returns 0 or an error of source_each(). */
int extremes_find(struct extremes *x, const struct exporter *e);
/* Sets the exact peak of RSS, or that of the summary or the samples. Returns false if unknown. */
bool extremes_rss_peak(const struct extremes *x, const struct summary *s, uint64_t *bytes);
/*
 * Returns false if the samples' maximum of a memory metric cannot stand for the run, since they
 * missed a short run: it held more resident memory than the maximum of virtual memory, or resident
 * memory while the maximum is 0.
 */
bool extremes_memory_is_valid(const struct extremes *x, const struct summary *s, enum metric_id id);
/*
 * Returns the mean of a gauge, which must be in x->have. Each value is weighted by the time until
 * the next sample: intervals differ, as marks have samples of their own, and the last has no time
 * left.
 */
double extremes_mean(const struct extremes *x, enum metric_id id);

/* Usage before the attachment, for formats that count from the start of processes. */

struct baseline {
	uint64_t value[NR_METRICS]; /* counters; 0: none or unknown */
	uint64_t age_ns; /* age of the oldest process when the run began; 0: it has no record yet */
};

/* Reads counters and age, 0 if a command was run. Returns 0 or an error of source_each(). */
int baseline_read(struct baseline *b, struct exporter *e);
/* Reads only the counters, which are in the meta line. */
void baseline_read_counters(struct baseline *b, const struct exporter *e);

#endif
