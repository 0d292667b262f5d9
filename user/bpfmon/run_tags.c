// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/run_tags.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "BPFMON_TAG_"

/* 0; -EINVAL: it is no tag; -ENAMETOOLONG; -E2BIG: there is no room for one more. */
static int run_tags_put(struct run_tags *tags, const char *text, bool displaces)
{
	size_t key = strcspn(text, "=");

	if (!key || text[key] != '=')
		return -EINVAL;
	if (strlen(text) >= RUN_WORD_BYTES)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < tags->nr; i++) {
		if (strncmp(tags->list[i], text, key + 1) != 0)
			continue;
		if (displaces)
			tags->list[i] = text;
		return 0;
	}
	if (tags->nr == MAX_TAGS)
		return -E2BIG;
	tags->list[tags->nr++] = text;
	return 0;
}

int run_tags_parse(void *tags, const char *text)
{
	return run_tags_put(tags, text, true);
}

size_t run_tags_add_defaults(struct run_tags *tags, const struct run_tags *defaults)
{
	size_t left_out = 0;
	int err;

	for (char **variable = environ; variable && *variable; variable++) {
		if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0)
			continue;
		err = run_tags_put(tags, *variable + strlen(PREFIX), false);
		left_out += err && err != -EINVAL;
	}
	for (size_t i = 0; i < defaults->nr; i++)
		left_out += run_tags_put(tags, defaults->list[i], false) == -E2BIG;
	return left_out;
}
