// SPDX-License-Identifier: BSD-2-Clause
#include "export/before.h"

#include "wire/reader_parts.h"

struct search {
	struct before *before;
	uint64_t start_epoch_ns; /* of the run */
};

/* One that came in from outside later, into a cgroup, says nothing of those that were there. */
static int take_age(void *context, struct line *l)
{
	const struct search *s = context;
	const struct process *p = &l->process;
	bool was_there = p->joined_epoch_ns && p->joined_epoch_ns <= s->start_epoch_ns &&
			 p->start_epoch_ns && p->start_epoch_ns <= s->start_epoch_ns;

	if (was_there && s->start_epoch_ns - p->start_epoch_ns > s->before->age_ns)
		s->before->age_ns = s->start_epoch_ns - p->start_epoch_ns;
	return 0;
}

void before_values(struct before *b, const struct exporter *e)
{
	struct metric_set have = { 0 };

	*b = (struct before){ 0 };
	read_metrics(json_object_get(e->meta, "baseline"), b->value, &have);
	for (int i = 0; i < NR_METRICS; i++) /* nothing is added to what holds at a moment */
		if (metric_get((enum metric_id)i)->kind != KIND_COUNTER)
			b->value[i] = 0;
}

int before_find(struct before *b, struct exporter *e)
{
	struct search s = { b, e->start_epoch_ns };

	before_values(b, e);
	if (!json_object_get(e->meta, "attached"))
		return 0;
	return source_each(e->source, PART(LINE_PROCESS), take_age, &s);
}
