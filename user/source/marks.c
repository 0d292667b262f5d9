// SPDX-License-Identifier: BSD-2-Clause
#include "source/marks.h"

#include "wire/reader_parts.h"

#include <string.h>

void marks_add(struct phases *p, const struct line *l)
{
	const char *event = json_string_value(json_object_get(l->tree, "event"));
	const json_t *text = json_object_get(l->tree, "text");

	if (event && !strcmp(event, "mark") && json_is_string(text))
		phases_add_mark(p, json_string_value(text), json_string_length(text),
				member_read_number(l->tree, "elapsed_seconds", 9));
}
