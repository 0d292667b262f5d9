// SPDX-License-Identifier: BSD-2-Clause
/* The events of a run, as notes in a line each. */
#include "top/model.h"

#include <jansson.h>
#include <stdio.h>

void model_take_event(struct model *m, const json_t *event)
{
	static const char *const more[] = { "text", "reason", "comm", "cgroup" };
	const char *name = json_string_value(json_object_get(event, "event")), *text = NULL;
	double time = json_number_value(json_object_get(event, "time"));
	struct note *n = &m->notes[m->nr_notes++ % MAX_NOTES];
	json_int_t pid = json_integer_value(json_object_get(event, "pid"));
	char of[32] = "";

	for (size_t i = 0; !text && i < sizeof(more) / sizeof(*more); i++)
		text = json_string_value(json_object_get(event, more[i]));
	if (pid > 0)
		snprintf(of, sizeof(of), " %lld", (long long)pid);
	*n = (struct note){ .at_ns = m->now_ns };
	if (time > 0 && time < 4e9)
		n->at_ns = model_elapsed(m, (uint64_t)(time * 1e6) * 1000);
	snprintf(n->text, sizeof(n->text), "%s%s%s%s", name ? name : "event", of, text ? ": " : "",
		 text ? text : "");
	for (char *c = n->text; *c && *c != ':'; c++)
		if (*c == '_')
			*c = ' ';
}
