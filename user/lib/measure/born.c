// SPDX-License-Identifier: BSD-2-Clause
#include "measure/born.h"

#include "base/memory.h"

#include <stdlib.h>

static size_t born_home(const struct born_set *t, pid_t pid)
{
	return ((size_t)pid * 2654435761U) & (t->slots - 1);
}

/* Returns the slot of @pid, or a free one. There is always one. */
static size_t born_slot(const struct born_set *t, pid_t pid)
{
	size_t i = born_home(t, pid);

	while (t->all[i].pid && t->all[i].pid != pid)
		i = (i + 1) & (t->slots - 1);
	return i;
}

struct born *born_find(const struct born_set *t, pid_t pid)
{
	struct born *b = t->slots ? &t->all[born_slot(t, pid)] : NULL;

	return b && b->pid ? b : NULL;
}

static bool set_grow(struct born_set *t)
{
	struct born_set wider = { .slots = t->slots ? t->slots * 2 : 64 };

	wider.all = memory_calloc(wider.slots, sizeof(*wider.all));
	if (!wider.all)
		return false;
	for (size_t i = 0; i < t->slots; i++)
		if (t->all[i].pid)
			wider.all[born_slot(&wider, t->all[i].pid)] = t->all[i];
	wider.nr = t->nr;
	free(t->all);
	*t = wider;
	return true;
}

struct born *born_add(struct born_set *t, pid_t pid)
{
	struct born *b;

	if (t->nr * 2 >= t->slots && !set_grow(t))
		return NULL;
	b = &t->all[born_slot(t, pid)];
	*b = (struct born){ .pid = pid };
	t->nr++;
	return b;
}

void born_remove(struct born_set *t, pid_t pid)
{
	struct born *b = born_find(t, pid);
	size_t free_slot, i;

	if (!b)
		return;
	free(b->late);
	free_slot = (size_t)(b - t->all);
	/* move up entries that the gap would make unreachable */
	for (i = (free_slot + 1) & (t->slots - 1); t->all[i].pid; i = (i + 1) & (t->slots - 1)) {
		size_t home = born_home(t, t->all[i].pid);

		if (((i - home) & (t->slots - 1)) < ((i - free_slot) & (t->slots - 1)))
			continue;
		t->all[free_slot] = t->all[i];
		free_slot = i;
	}
	t->all[free_slot].pid = 0;
	t->nr--;
}

void born_note_exit(struct born *b, bool is_first, uint32_t code)
{
	struct born_codes *end = &b->end;

	if (!is_first && b->nr_killed) {
		b->nr_killed--;
	} else if (is_first) {
		end->of_first = true;
		end->first = end->last = code;
	} else if (end->of_first) {
		end->is_unsure |= end->of_others && code != end->last;
		end->of_others = true;
		end->last = code;
	}
}

void born_note_exec(struct born *b)
{
	b->nr_killed = b->threads > 1 ? b->threads - 1 : 0;
	b->end = (struct born_codes){ 0 };
}

/*
 * The kernel's status is the code of exit_group(), or that of the last thread. A first thread that
 * ended before by itself has code 0.
 */
bool born_status(const struct born *b, uint32_t *status)
{
	const struct born_codes *end = &b->end;

	*status = end->last;
	return end->of_first && !end->is_unsure && (!end->first || end->first == end->last);
}

void born_done(struct born_set *t)
{
	for (size_t i = 0; i < t->slots; i++)
		if (t->all[i].pid)
			free(t->all[i].late);
	free(t->all);
	*t = (struct born_set){ 0 };
}
