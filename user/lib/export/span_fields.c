// SPDX-License-Identifier: BSD-2-Clause
#include "export/span_fields.h"

#include <stdlib.h>
#include <string.h>

static bool span_field_is_value(const struct summary_field *f)
{
	switch (f->type) {
	case TYPE_NUMBER:
	case TYPE_DERIVED:
	case TYPE_TRUTH:
	case TYPE_TEXT:
	case TYPE_STATUS:
		return f->in == IN_LINE;
	default:
		return false;
	}
}

bool span_has_field(const struct span *s, const struct summary_field *f)
{
	const struct summary *u = &s->used;

	if (!span_field_is_value(f) || !summary_field_is_there(u, f))
		return false;
	return f->type != TYPE_STATUS || summary_field_is_status(u, f);
}

json_t *span_make_tags(const struct span_label *label)
{
	json_t *tags = json_object();

	for (size_t i = 0; tags && i < label->nr_tags; i++) {
		const char *value = strchr(label->tags[i], '=') + 1;
		char *key = strndup(label->tags[i], (size_t)(value - 1 - label->tags[i]));

		if (!key || json_object_set_new(tags, key, json_string(value))) {
			json_decref(tags);
			tags = NULL;
		}
		free(key);
	}
	return tags;
}
