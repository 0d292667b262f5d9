// SPDX-License-Identifier: BSD-2-Clause
#include "run/agent_metric.h"

static const struct agent_metric agent_metrics[NR_AGENT_METRICS] = {
#define AGENT_METRIC(key, kind, unit, help)                                                        \
	[AGENT_##key] = { #key, help, KIND_##kind, UNIT_##unit },
#include "run/agent_metric.def"
};

const struct agent_metric *agent_metric_get(size_t i)
{
	return &agent_metrics[i];
}
