// SPDX-License-Identifier: BSD-2-Clause
#include "run/phase_times.h"

#include <stdlib.h>
#include <string.h>

#define NO_NAME UINT32_MAX

void phase_times_done(struct phase_times *t)
{
	for (size_t i = 0; i < t->nr_names; i++)
		free(t->names[i]);
	free(t->names);
	free(t->marks);
	*t = (struct phase_times){ 0 };
}

/* The text as a name ended by NUL: a NUL in it would hide what comes after it. */
static char *phase_name_copy(const char *text, size_t length)
{
	char *copy = malloc(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!copy[i])
			copy[i] = '?';
	return copy;
}

/* The number of the name, which is taken over; NO_NAME: there is no room for one more. */
static uint32_t phase_name_intern(struct phase_times *t, char *name)
{
	for (size_t i = t->nr_names; name && i-- > 0;) { /* mostly one of the last */
		if (strcmp(t->names[i], name) != 0)
			continue;
		free(name);
		return (uint32_t)i;
	}
	if (!t->names)
		t->names = calloc(MAX_TIMED_NAMES, sizeof(*t->names));
	if (!name || !t->names || t->nr_names == MAX_TIMED_NAMES) {
		free(name);
		return NO_NAME;
	}
	t->names[t->nr_names] = name;
	return (uint32_t)t->nr_names++;
}

static bool timed_marks_make_room(struct phase_times *t)
{
	size_t room = t->room ? t->room * 2 : 64;
	struct timed_mark *marks;

	if (t->nr < t->room)
		return true;
	if (t->nr == MAX_TIMED_MARKS)
		return false;
	marks = reallocarray(t->marks, room, sizeof(*marks));
	if (!marks)
		return false;
	t->marks = marks;
	t->room = room;
	return true;
}

void phase_times_add(struct phase_times *t, const char *text, size_t length, uint64_t elapsed_ns)
{
	uint32_t name = NO_NAME;

	if (t->is_partial)
		return;
	if (timed_marks_make_room(t))
		name = phase_name_intern(t, phase_name_copy(text, length));
	if (name == NO_NAME) {
		phase_times_done(t);
		t->is_partial = true;
		return;
	}
	t->marks[t->nr] = (struct timed_mark){ .elapsed_ns = elapsed_ns,
					       .came = (uint32_t)t->nr,
					       .name = name };
	t->nr++;
}

static int timed_mark_order(const void *a, const void *b)
{
	const struct timed_mark *p = a, *q = b;

	if (p->elapsed_ns != q->elapsed_ns)
		return p->elapsed_ns < q->elapsed_ns ? -1 : 1;
	return p->came < q->came ? -1 : 1;
}

/* A mark may come after the end. */
static uint64_t time_within(uint64_t elapsed_ns, uint64_t wall_ns)
{
	return elapsed_ns < wall_ns ? elapsed_ns : wall_ns;
}

bool phase_times_longest(struct phase_times *t, uint64_t wall_ns, struct longest_phase *longest)
{
	struct longest_phase *all = calloc(t->nr_names + 1, sizeof(*all));

	if (!all || !t->nr || t->is_partial) {
		free(all);
		return false;
	}
	qsort(t->marks, t->nr, sizeof(*t->marks), timed_mark_order);
	for (size_t i = 0; i < t->nr_names; i++)
		all[i].text = t->names[i];
	all[t->nr_names].ns = time_within(t->marks[0].elapsed_ns, wall_ns);
	all[t->nr_names].count = 1;
	for (size_t i = 0; i < t->nr; i++) {
		struct longest_phase *of = &all[t->marks[i].name];
		uint64_t end = i + 1 < t->nr ? t->marks[i + 1].elapsed_ns : wall_ns;

		of->ns += time_within(end, wall_ns) - time_within(t->marks[i].elapsed_ns, wall_ns);
		of->count++;
	}
	*longest = all[0];
	for (size_t i = 1; i <= t->nr_names; i++)
		if (all[i].ns > longest->ns)
			*longest = all[i];
	free(all);
	return true;
}
