// SPDX-License-Identifier: BSD-2-Clause
#include "export/export_baseline.h"

#include "run/reader_parts.h"

struct search {
	struct baseline *baseline;
	uint64_t start_epoch_ns; /* of the run */
};

/* Processes that entered a followed cgroup after the start of the run do not count. */
static int baseline_take_age(void *context, struct line *l)
{
	const struct search *s = context;
	const struct process *p = &l->process;
	bool was_there = p->joined_epoch_ns && p->joined_epoch_ns <= s->start_epoch_ns &&
			 p->start_epoch_ns && p->start_epoch_ns <= s->start_epoch_ns;

	if (was_there && s->start_epoch_ns - p->start_epoch_ns > s->baseline->age_ns)
		s->baseline->age_ns = s->start_epoch_ns - p->start_epoch_ns;
	return 0;
}

void baseline_read_counters(struct baseline *b, const struct exporter *e)
{
	struct metric_set have = { 0 };

	*b = (struct baseline){ 0 };
	metrics_read(json_object_get(e->meta, "baseline"), b->value, &have);
	for (int i = 0; i < NR_METRICS; i++) /* only counters have a value before the run */
		if (metric_get((enum metric_id)i)->kind != KIND_COUNTER)
			b->value[i] = 0;
}

int baseline_read(struct baseline *b, struct exporter *e)
{
	struct search s = { b, e->start_epoch_ns };

	baseline_read_counters(b, e);
	if (!json_object_get(e->meta, "attached"))
		return 0;
	return source_each(e->source, PART(LINE_PROCESS), baseline_take_age, &s);
}
