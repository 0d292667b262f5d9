// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/tags.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "BPFMON_TAG_"

int parse_tag(struct options *o, const char *text)
{
	size_t key = strcspn(text, "=");

	if (!key || text[key] != '=')
		return -EINVAL;
	for (size_t i = 0; i < o->nr_tags; i++) {
		if (strncmp(o->tags[i], text, key + 1) != 0)
			continue;
		o->tags[i] = text;
		return 0;
	}
	if (o->nr_tags == MAX_TAGS)
		return -EINVAL;
	o->tags[o->nr_tags++] = text;
	return 0;
}

void tags_from_environment(struct options *o)
{
	for (char **variable = environ; variable && *variable; variable++)
		if (!strncmp(*variable, PREFIX, strlen(PREFIX)))
			parse_tag(o, *variable + strlen(PREFIX));
}
