// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/agent_source.h"

#include "run/reader_parts.h"

#include <stdio.h>

void agent_forget(struct agent_state *a)
{
	*a = (struct agent_state){ 0 };
}

static void agent_read_losses(struct agent_state *a, json_t *losses)
{
	const char *name;
	json_t *v;

	a->nr_losses = 0;
	json_object_foreach(losses, name, v) {
		struct loss_count *l = &a->losses[a->nr_losses];

		if (a->nr_losses == MAX_LOSSES)
			break;
		if (!value_read_number(v, 0, &l->count))
			continue;
		/* a name that was cut could be there twice, and a label may not */
		if (snprintf(l->name, sizeof(l->name), "%s", name) >= (int)sizeof(l->name))
			continue;
		a->nr_losses++;
	}
}

void agent_read(struct agent_state *a, const json_t *line)
{
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct agent_metric *m = agent_metric_get(i);

		a->has[i] = value_read_number(json_object_get(line, m->key),
					      metric_unit_decimals(m->unit), &a->value[i]);
	}
	agent_read_losses(a, json_object_get(line, "losses"));
}
