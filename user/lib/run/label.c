// SPDX-License-Identifier: BSD-2-Clause
#include "run/label.h"

#include <stdio.h>
#include <string.h>

size_t label_measure_tags(json_t *tags)
{
	size_t length = 0;
	const char *key;
	json_t *v;

	json_object_foreach(tags, key, v)
		length += strlen(key) + json_string_length(v) + 2;
	return length;
}

void label_add_tag(struct span_label *label, char **at, const char *key, const json_t *value)
{
	label->tags[label->nr_tags++] = *at;
	*at += sprintf(*at, "%s=%s", key, json_string_value(value)) + 1;
}
