// SPDX-License-Identifier: BSD-2-Clause
/* The events of a run, as notes in a line each. */
#include "top/model.h"

#include "text/limit_text.h"
#include "run/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_write(struct note *n, const char *name, long long pid, const char *text)
{
	char of[32] = "";

	if (pid > 0)
		snprintf(of, sizeof(of), " %lld", pid);
	snprintf(n->text, sizeof(n->text), "%s%s%s%s", name ? name : "event", of, text ? ": " : "",
		 text ? text : "");
	for (char *c = n->text; *c && *c != ':'; c++)
		if (*c == '_')
			*c = ' ';
}

/* In the words of the summary. False: it is another event, or none of this bpfmon. */
static bool note_write_limit(struct note *n, const char *name, const json_t *event)
{
	struct limit_hit hit;
	char *text;

	if (!name || strcmp(name, "limit") != 0 || !limit_hit_read(&hit, event))
		return false;
	text = limit_text_make(&hit);
	snprintf(n->text, sizeof(n->text), "%s %s", hit.is_end ? "ended beyond" : "beyond",
		 text ? text : hit.text);
	free(text);
	return true;
}

void model_take_event(struct model *m, const json_t *event)
{
	static const char *const more[] = { "text", "reason", "comm", "cgroup" };
	const char *name = json_string_value(json_object_get(event, "event")), *text = NULL;
	double time = json_number_value(json_object_get(event, "time"));
	struct note *n = &m->notes[m->nr_notes++ % MAX_NOTES];

	*n = (struct note){ .at_ns = m->now_ns };
	if (time > 0 && time < 4e9)
		n->at_ns = model_elapsed(m, (uint64_t)(time * 1e6) * 1000);
	if (note_write_limit(n, name, event))
		return;
	for (size_t i = 0; !text && i < sizeof(more) / sizeof(*more); i++)
		text = json_string_value(json_object_get(event, more[i]));
	note_write(n, name, json_integer_value(json_object_get(event, "pid")), text);
}
