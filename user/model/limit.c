// SPDX-License-Identifier: BSD-2-Clause
#include "model/limit.h"

#include <errno.h>
#include <string.h>

const char *const limit_of_words[NR_LIMIT_OF] = { "", "process.", "span." };

struct short_name {
	const char *name;
	unsigned nr;
	enum metric_id parts[MAX_LIMIT_PARTS];
};

static const struct short_name short_names[] = {
	{ "rss", 1, { M_rss } },     { "pss", 1, { M_pss } },
	{ "uss", 1, { M_uss } },     { "swap", 1, { M_swap } },
	{ "cpu", 1, { M_cpu } },     { "read", 1, { M_read } },
	{ "write", 1, { M_write } }, { "net", 2, { M_net_rx, M_net_tx } },
};

/* Of a live process that is looked at by itself there is only that. */
static bool limit_is_of_process(const struct limit *l)
{
	return l->is_wall || l->parts[0] == M_rss || l->parts[0] == M_rss_anon ||
	       l->parts[0] == M_swap || l->parts[0] == M_cpu;
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
	l->nr_parts = 0;
	if (!l->is_wall && limit_find_parts(l, key, length))
		return -ENOENT;
	return l->of == LIMIT_OF_PROCESS && !limit_is_of_process(l) ? -EINVAL : 0;
}

enum metric_unit limit_unit(const struct limit *l)
{
	return l->is_wall ? UNIT_NS : metric_get(l->parts[0])->unit;
}
