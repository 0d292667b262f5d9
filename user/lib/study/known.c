// SPDX-License-Identifier: BSD-2-Clause
#include "study/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int known_add(struct known_runs *k, size_t of, const char *kind, const struct signature *g)
{
	if (k->nr == k->room) {
		size_t room = k->room ? k->room * 2 : 256;
		struct known_run *list = reallocarray(k->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		k->list = list;
		k->room = room;
	}
	k->list[k->nr++] = (struct known_run){ .of = of, .kind = kind, .signature = *g };
	return 0;
}

static int known_order(const void *x, const void *y)
{
	const struct known_run *a = x, *b = y;
	int c = strcmp(a->kind, b->kind);

	return c ? c : (a->of > b->of) - (a->of < b->of);
}

void known_sort(struct known_runs *k)
{
	if (k->nr)
		qsort(k->list, k->nr, sizeof(*k->list), known_order);
	k->nr_kinds = 0;
	for (size_t i = 0; i < k->nr; i++) {
		if (i && strcmp(k->list[i].kind, k->list[i - 1].kind) != 0)
			k->nr_kinds++;
		k->list[i].nr_kind = k->nr_kinds;
	}
	k->nr_kinds += k->nr > 0;
}

size_t known_kind_end(const struct known_runs *k, size_t from)
{
	size_t end = from;

	while (end < k->nr && k->list[end].nr_kind == k->list[from].nr_kind)
		end++;
	return end;
}

void known_done(struct known_runs *k)
{
	free(k->list);
	*k = (struct known_runs){ 0 };
}
