/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of what an agent reports of itself: an enum value and an entry for each row. */
#ifndef RUN_AGENT_METRIC_H
#define RUN_AGENT_METRIC_H

#include "run/metric.h"

enum agent_metric_id {
#define AGENT_METRIC(key, kind, unit, help) AGENT_##key,
#include "run/agent_metric.def"
	NR_AGENT_METRICS
};

struct agent_metric {
	const char *key, *help;
	enum metric_kind kind;
	enum metric_unit unit;
};

const struct agent_metric *agent_metric_get(size_t i);

#endif
