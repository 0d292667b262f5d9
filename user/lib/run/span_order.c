// SPDX-License-Identifier: BSD-2-Clause
#include "run/span_sums.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ordering {
	const struct span_paths *paths;
	const struct span_sums *sums;
	enum span_order order;
};

/* clang-format off */
static const enum span_value value_of[NR_SPAN_ORDERS] = {
	[SPANS_BY_CPU] = SPAN_CPU,   [SPANS_BY_WALL] = SPAN_WALL,
	[SPANS_BY_READ] = SPAN_READ, [SPANS_BY_WRITTEN] = SPAN_WRITTEN,
	[SPANS_BY_PROCESSES] = SPAN_PROCESSES,
};
/* clang-format on */

/* Returns the value to sort by; 0 if it is unknown. */
static uint64_t path_weight(const struct ordering *o, size_t at)
{
	const struct span_amount *amount = o->sums->of[at].amount;
	uint64_t least = amount[SPAN_PEAK].most, most = amount[SPAN_PEAK_UPPER].most;

	if (o->order != SPANS_BY_PEAK)
		return amount[value_of[o->order]].sum;
	return most > least ? most : least;
}

static int span_path_compare(const void *a, const void *b, void *context)
{
	const struct ordering *o = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	uint64_t of_x, of_y;
	int names;

	if (o->order == SPANS_BY_NAME) {
		names = strcmp(o->paths->all[x].name, o->paths->all[y].name);
		if (names)
			return names;
	} else if (o->order != SPANS_BY_START) {
		of_x = path_weight(o, x);
		of_y = path_weight(o, y);
		if (of_x != of_y)
			return of_x < of_y ? 1 : -1;
	}
	return (x > y) - (x < y); /* paths are in the order of their first spans */
}

/* Shows the path and those around it, if there is room for all. Returns how many it adds. */
static size_t path_show(struct span_paths *p, size_t at, size_t room)
{
	size_t above = 0;

	for (size_t i = at; i != NO_PATH && p->all[i].is_hidden; i = p->all[i].parent)
		above++;
	if (above > room)
		return 0;
	for (size_t i = at; i != NO_PATH && p->all[i].is_hidden; i = p->all[i].parent)
		p->all[i].is_hidden = false;
	return above;
}

static void path_unlink_all(struct span_paths *p)
{
	p->first = p->last = NO_PATH;
	for (size_t i = 0; i < p->nr; i++)
		p->all[i].first = p->all[i].last = p->all[i].next = NO_PATH;
}

ssize_t span_paths_sort(struct span_paths *p, const struct span_sums *s, enum span_order order,
			size_t most)
{
	struct ordering o = { p, s, order };
	size_t *sorted = memory_calloc(p->nr + 1, sizeof(*sorted)), shown = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++)
		sorted[i] = i;
	qsort_r(sorted, p->nr, sizeof(*sorted), span_path_compare, &o);
	path_unlink_all(p);
	for (size_t i = 0; i < p->nr; i++) {
		span_path_link(p, sorted[i]);
		p->all[i].is_hidden = true;
	}
	for (size_t i = 0; i < p->nr; i++)
		shown += path_show(p, sorted[i], most ? most - shown : p->nr);
	free(sorted);
	return (ssize_t)(p->nr - shown);
}
