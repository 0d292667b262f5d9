/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent has last said about itself. */
#ifndef EXPORTER_AGENT_SOURCE_H
#define EXPORTER_AGENT_SOURCE_H

#include "run/agent_metric.h"
#include "run/summary.h"

#include <jansson.h>

struct agent_state {
	bool is_up; /* its stream is open */
	uint64_t value[NR_AGENT_METRICS];
	bool has[NR_AGENT_METRICS]; /* absent keys are absent metrics */
	struct loss_count losses[MAX_LOSSES];
	size_t nr_losses;
};

/* Takes a line of kind "agent". */
void agent_read(struct agent_state *a, const json_t *line);
/* Its stream has ended: nothing is known of it any more. */
void agent_forget(struct agent_state *a);

#endif
