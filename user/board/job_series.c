// SPDX-License-Identifier: BSD-2-Clause
#include "board/job_series.h"

#include "base/memory.h"

#include <stdlib.h>

struct series *series_find_labels(const struct series_list *l, const struct buffer *text)
{
	return text->failed ? NULL
			    : (struct series *)name_index_find(&l->index, text->text, text->used);
}

struct series *series_take_labels(struct series_list *l, struct buffer *text)
{
	struct series *s = series_find_labels(l, text);

	if (s || text->failed) {
		buffer_done(text);
		return s;
	}
	s = memory_calloc(1, sizeof(*s));
	if (!s || name_index_add(&l->index, &s->entry, text->text, text->used)) {
		free(s);
		buffer_done(text);
		return NULL;
	}
	s->labels = *text;
	s->next = l->first;
	l->first = s;
	return s;
}

void series_remove(struct series_list *l, struct series **at)
{
	struct series *s = *at;

	*at = s->next;
	name_index_remove(&l->index, &s->entry);
	buffer_done(&s->labels);
	free(s);
}

void series_list_done(struct series_list *l)
{
	while (l->first)
		series_remove(l, &l->first);
}

void series_grow(struct series *s, enum metric_id id, uint64_t by)
{
	if (__builtin_add_overflow(s->value[id], by, &s->value[id]))
		s->value[id] = UINT64_MAX;
	metric_put(&s->have, id);
}

void series_clear_gauges(struct series *s)
{
	s->live = s->stalled = s->start_epoch_ns = 0;
	s->bounds = (struct job_bounds){ 0 };
	for (int i = 0; i < NR_METRICS; i++) {
		if (metric_get((enum metric_id)i)->kind != KIND_GAUGE)
			continue;
		s->value[i] = 0;
		metric_drop(&s->have, (enum metric_id)i);
	}
}
