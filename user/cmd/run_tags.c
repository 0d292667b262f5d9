// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/run_tags.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "BPFMON_TAG_"

/* 0; -EINVAL: it is no tag; -E2BIG: there is no room for one more. */
static int run_tags_put(struct options *o, const char *text, bool displaces)
{
	size_t key = strcspn(text, "=");

	if (!key || text[key] != '=')
		return -EINVAL;
	for (size_t i = 0; i < o->nr_tags; i++) {
		if (strncmp(o->tags[i], text, key + 1) != 0)
			continue;
		if (displaces)
			o->tags[i] = text;
		return 0;
	}
	if (o->nr_tags == MAX_TAGS)
		return -E2BIG;
	o->tags[o->nr_tags++] = text;
	return 0;
}

int parse_tag(struct options *o, const char *text)
{
	return run_tags_put(o, text, true);
}

size_t tags_from_environment(struct options *o, const char *default_tag)
{
	size_t left_out = 0;

	for (char **variable = environ; variable && *variable; variable++)
		if (!strncmp(*variable, PREFIX, strlen(PREFIX)))
			left_out += run_tags_put(o, *variable + strlen(PREFIX), false) == -E2BIG;
	if (default_tag)
		left_out += run_tags_put(o, default_tag, false) == -E2BIG;
	return left_out;
}
