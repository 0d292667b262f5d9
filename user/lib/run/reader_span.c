// SPDX-License-Identifier: BSD-2-Clause
/* The line of a span read back. */
#include "run/label.h"
#include "run/reader_parts.h"

#include <stdlib.h>

/* As "key=value", in memory of the line; without memory there are none. */
static void span_read_tags(struct line *l, json_t *tags)
{
	struct span_label *label = &l->span.label;
	size_t length = label_measure_tags(tags);
	const char *key;
	char *at;
	json_t *v;

	free(l->tags);
	l->tags = at = length ? malloc(length) : NULL;
	if (!at)
		return;
	json_object_foreach(tags, key, v)
		if (json_is_string(v) && label->nr_tags < MAX_SPAN_TAGS)
			label_add_tag(label, &at, key, v);
}

void span_read(struct line *l, json_t *o)
{
	struct span *s = &l->span;
	struct summary used = s->used;

	words_cut(o, MAX_SPAN_TAGS);
	*s = (struct span){ .used = used };
	s->id = member_read_number(o, "id", 0);
	s->parent = member_read_number(o, "parent", 0);
	s->pid = value_read_int32(json_object_get(o, "pid"));
	s->in_place = json_is_true(json_object_get(o, "in_place"));
	s->label.name = json_string_value(json_object_get(o, "name"));
	if (!s->label.name)
		s->label.name = "";
	span_read_tags(l, json_object_get(o, "tags"));
	s->start_epoch_ns = member_read_epoch(o, "start_time");
	s->end_epoch_ns = member_read_epoch(o, "end_time");
	summary_read_members(&s->used, o);
}
