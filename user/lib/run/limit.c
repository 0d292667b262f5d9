// SPDX-License-Identifier: BSD-2-Clause
#include "run/limit.h"

#include <errno.h>
#include <string.h>

#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyz_0123456789"

const char *const limit_of_words[NR_LIMIT_OF] = { "", "process.", "span." };

struct short_name {
	const char *name;
	unsigned nr;
	enum metric_id parts[MAX_LIMIT_PARTS];
};

static const struct short_name short_names[] = {
	{ "memory", 1, { M_rss } },
	{ "rss", 1, { M_rss } },
	{ "pss", 1, { M_pss } },
	{ "uss", 1, { M_uss } },
	{ "swap", 1, { M_swap } },
	{ "cpu", 1, { M_cpu } },
	{ "read", 1, { M_read } },
	{ "write", 1, { M_write } },
	{ "net", 2, { M_net_rx, M_net_tx } },
};

/* Of a live process there is what its tasks count, and some of its memory; of a span also what is
 * counted for an account, and all memory that a drain reads. */
static bool limit_is_known_of(enum limit_of of, enum metric_id id)
{
	const enum metric_source source = metric_get(id)->source;

	switch (of) {
	case LIMIT_OF_PROCESS:
		return metric_is_of_process(id) || id == M_rss || id == M_rss_anon || id == M_swap;
	case LIMIT_OF_SPAN:
		return metric_is_of_process(id) || source == SOURCE_ACCOUNT ||
		       source == SOURCE_MEMORY;
	default:
		return true;
	}
}

static int limit_find_parts(struct limit *l, const char *key, size_t length)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(*short_names); i++) {
		const struct short_name *s = &short_names[i];

		if (strlen(s->name) != length || strncmp(s->name, key, length) != 0)
			continue;
		l->nr_parts = s->nr;
		memcpy(l->parts, s->parts, sizeof(l->parts));
		return 0;
	}
	l->nr_parts = 1;
	return metric_find(key, length, &l->parts[0]);
}

int limit_set_key(struct limit *l, const char *key, size_t length)
{
	l->is_wall = length == 4 && !strncmp(key, "wall", 4);
	l->is_needed = length == 6 && !strncmp(key, "memory", 6);
	l->nr_parts = 0;
	if (l->is_needed && l->of != LIMIT_OF_RUN)
		return -EINVAL;
	if (!l->is_wall && limit_find_parts(l, key, length))
		return -ENOENT;
	for (unsigned i = 0; i < l->nr_parts; i++)
		if (!limit_is_known_of(l->of, l->parts[i]))
			return -EINVAL;
	return 0;
}

const char *limit_set_from_text(struct limit *l, const char *text, int *err)
{
	size_t length;

	for (int of = LIMIT_OF_PROCESS; of < NR_LIMIT_OF; of++) {
		length = strlen(limit_of_words[of]);
		if (strncmp(text, limit_of_words[of], length) != 0)
			continue;
		l->of = (enum limit_of)of;
		text += length;
		break;
	}
	length = strspn(text, KEY_CHARACTERS);
	*err = limit_set_key(l, text, length);
	return text + length;
}

enum metric_unit limit_unit(const struct limit *l)
{
	return l->is_wall ? UNIT_NS : metric_get(l->parts[0])->unit;
}
