// SPDX-License-Identifier: BSD-2-Clause
#include "study/group.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct group *groups_append(struct groups *g, const char *name, size_t room)
{
	struct group *one = &g->list[g->nr];

	*one = (struct group){ .name = name, .sides = calloc(room, sizeof(const struct side *)) };
	if (!one->sides)
		return NULL;
	g->nr++;
	return one;
}

static struct group *groups_find(struct groups *g, const char *name)
{
	for (size_t i = 0; i < g->nr; i++)
		if (!strcmp(g->list[i].name, name))
			return &g->list[i];
	return NULL;
}

static int groups_put(struct groups *g, struct group *one, const struct side *s)
{
	if (!one)
		return -ENOMEM;
	one->sides[one->nr++] = s;
	if (one->nr > g->most_sides)
		g->most_sides = one->nr;
	return 0;
}

int groups_each(struct groups *g, const struct sides *all)
{
	int err = 0;

	*g = (struct groups){ .list = calloc(all->nr + 1, sizeof(*g->list)) };
	for (size_t i = 0; g->list && !err && i < all->nr; i++)
		err = groups_put(g, groups_append(g, all->list[i].name, 1), &all->list[i]);
	return g->list ? err : -ENOMEM;
}

int groups_by_tag(struct groups *g, const struct sides *all, const char *by,
		  const struct side **without)
{
	int err = 0;

	*g = (struct groups){ .list = calloc(all->nr + 1, sizeof(*g->list)), .by = by };
	for (size_t i = 0; g->list && !err && i < all->nr; i++) {
		const struct side *s = &all->list[i];
		const char *value = side_tag(s, by);
		struct group *one = value ? groups_find(g, value) : NULL;

		*without = s;
		if (!value)
			return -ENOENT;
		err = groups_put(g, one ? one : groups_append(g, value, all->nr), s);
	}
	return g->list ? err : -ENOMEM;
}

static bool group_name_is_number(const char *name, double *number)
{
	char *end;

	if (!*name || isspace((unsigned char)*name))
		return false;
	*number = strtod(name, &end);
	return !*end && isfinite(*number);
}

static int compare_group_names(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static int compare_group_numbers(const void *a, const void *b)
{
	double x = 0, y = 0;

	group_name_is_number(((const struct group *)a)->name, &x);
	group_name_is_number(((const struct group *)b)->name, &y);
	return x != y ? (x > y) - (x < y) : compare_group_names(a, b);
}

void groups_sort(struct groups *g, bool with_first)
{
	bool are_numbers = true;
	size_t from;
	double ignored;

	for (size_t i = 0; i < g->nr; i++)
		are_numbers &= group_name_is_number(g->list[i].name, &ignored);
	from = with_first && are_numbers ? 0 : 1;
	if (g->nr > from)
		qsort(g->list + from, g->nr - from, sizeof(*g->list),
		      are_numbers ? compare_group_numbers : compare_group_names);
}

int groups_baseline(struct groups *g, const char *name)
{
	struct group *found = groups_find(g, name), baseline;

	if (!found)
		return -ENOENT;
	baseline = *found;
	memmove(g->list + 1, g->list, (size_t)(found - g->list) * sizeof(*g->list));
	g->list[0] = baseline;
	return 0;
}

void groups_done(struct groups *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->list[i].sides);
	free(g->list);
	*g = (struct groups){ 0 };
}
