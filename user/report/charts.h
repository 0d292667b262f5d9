/* SPDX-License-Identifier: BSD-2-Clause */
/* The curves of a report: gauges as read, counters as rates. */
#ifndef REPORT_CHARTS_H
#define REPORT_CHARTS_H

#include "base/json.h"
#include "model/sample.h"
#include "report/spec.h"
#include "report/downsampler.h"

#define CHART_ROOM 1024 /* more samples than these are thinned */

struct report_charts {
	struct downsampler sampler[NR_CHARTS];
	struct metric_set seen, above_zero; /* in any sample */
	bool has_last;
	uint64_t last_elapsed_ns; /* of the previous sample */
	uint64_t last[NR_METRICS];
	struct metric_set last_have;
};

/* 0 or -ENOMEM. */
int charts_init(struct report_charts *c);
void charts_done(struct report_charts *c);
/* Adds the metrics that are drawn to @set: no others need be read. */
void charts_add_metrics(struct metric_set *set);
/* Takes the next sample; one that is not later than the previous one is ignored. */
void charts_add(struct report_charts *c, const struct sample *s);
/* True if there is something to draw: a rare curve needs a value above 0. */
bool charts_has_curve(const struct report_charts *c, const struct curve_spec *curve);
/*
 * "charts":{"cpu":{"title":...,"curves":[...],"samples":...,"each":...,"time":[...],"columns":
 * {key:[...]}}}; -ENOMEM. A rate is per second, over the time since the previous sample.
 */
int charts_write(const struct report_charts *c, struct jsonw *j);

#endif
