/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has used and holds, as top follows it: the metrics that its columns need. */
#ifndef TOP_USAGE_H
#define TOP_USAGE_H

#include "run/metric.h"

enum measure {
	/* counters, which a parent's sum keeps when the process has ended */
	MEASURE_CPU,
	MEASURE_USER,
	MEASURE_SYSTEM,
	MEASURE_RUNQUEUE,
	MEASURE_MINFLT,
	MEASURE_MAJFLT,
	MEASURE_NVCSW,
	MEASURE_NIVCSW,
	MEASURE_RCHAR,
	MEASURE_WCHAR,
	MEASURE_READ,
	MEASURE_WRITE,
	/* gauges, of live ones only */
	MEASURE_RSS,
	MEASURE_SWAP,
	MEASURE_THREADS,
	NR_MEASURES
};

#define MEASURE_FIRST_GAUGE MEASURE_RSS

struct usage {
	uint64_t value[NR_MEASURES];
	uint32_t have; /* a bit for each; without it the value is 0 */
};

static inline bool usage_has(const struct usage *u, enum measure m)
{
	return u->have >> m & 1;
}

enum metric_id measure_metric(enum measure m);
/* Takes those measures that are among the metrics. */
void usage_take(struct usage *u, const uint64_t *value, const struct metric_set *have);
/* Adds counters and gauges, or counters only. */
void usage_add(struct usage *to, const struct usage *u);
void usage_add_counters(struct usage *to, const struct usage *u);
/* Adds by how much the counters of @later are above those of @earlier, if they are. */
void usage_add_growth(struct usage *to, const struct usage *later, const struct usage *earlier);

#endif
