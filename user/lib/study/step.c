// SPDX-License-Identifier: BSD-2-Clause
#include "study/step.h"

#include "study/step_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *step_kind_name(enum step_kind kind)
{
	static const char *const names[] = { STEP_WORDS };

	return names[kind];
}

const char *step_kind_names(enum step_kind kind)
{
	static const char *const names[] = { "phases", "programs", "spans" };

	return names[kind];
}

const char *step_kind_counted(enum step_kind kind)
{
	static const char *const names[] = { "phases", "procs", "spans" };

	return names[kind];
}

static void step_done(struct step *s)
{
	comparison_done(&s->comparison);
	groups_done(&s->groups);
	json_decref(s->path);
	free(s->name);
	free(s->sides);
	free(s->spans);
	free(s->counts);
}

void steps_done(struct steps *all)
{
	for (size_t i = 0; i < all->nr; i++)
		step_done(&all->list[i]);
	free(all->list);
	json_decref(all->index);
	*all = (struct steps){ 0 };
}

/* Runs from @from on have no span of the step yet. */
static void step_clear(struct step *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		s->sides[i] = (struct side){ .format = "bpfmon", .is_run = true, .complete = true };
		s->spans[i] = 0;
		for (size_t key = 0; key < NR_KEYS; key++)
			s->sides[i].value[key] = NAN;
	}
}

static int step_make_room(struct step *s, size_t from, size_t to)
{
	struct side *sides = reallocarray(s->sides, to, sizeof(*sides));
	size_t *spans;

	if (!sides)
		return -ENOMEM;
	s->sides = sides;
	spans = reallocarray(s->spans, to, sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	s->spans = spans;
	step_clear(s, from, to);
	return 0;
}

int steps_make_room(struct steps *all, size_t nr_sides)
{
	int err = 0;

	if (!all->index)
		all->index = json_object();
	if (!all->index)
		return -ENOMEM;
	for (size_t i = 0; !err && i < all->nr; i++)
		err = step_make_room(&all->list[i], all->nr_sides, nr_sides);
	if (!err)
		all->nr_sides = nr_sides;
	return err;
}

/* Takes @path over. */
static struct step *step_append(struct steps *all, const char *key, json_t *path)
{
	struct step *s;

	if (all->nr == all->room) {
		size_t room = all->room ? all->room * 2 : 16;
		struct step *list = reallocarray(all->list, room, sizeof(*list));

		if (!list) {
			json_decref(path);
			return NULL;
		}
		all->list = list;
		all->room = room;
	}
	s = &all->list[all->nr];
	*s = (struct step){ .path = path, .name = strdup(key) };
	if (!s->name || step_make_room(s, 0, all->nr_sides) ||
	    json_object_set_new_nocheck(all->index, key, json_integer((json_int_t)all->nr))) {
		step_done(s);
		return NULL;
	}
	for (char *c = s->name; *c; c++)
		*c = *c == STEP_BETWEEN ? '/' : *c;
	all->nr++;
	return s;
}

int step_find(struct steps *all, const char *key, json_t *path, size_t *number)
{
	const json_t *known = json_object_get(all->index, key);

	*number = known ? (size_t)json_integer_value(known) : all->nr;
	if (!path)
		return -ENOMEM;
	if (known || all->nr == MAX_STEPS) {
		*number = known ? *number : SIZE_MAX;
		json_decref(path);
		return 0;
	}
	return step_append(all, key, path) ? 0 : -ENOMEM;
}

/* The sides of the step in the places of those of the runs. */
static int step_make_groups(struct step *s, const struct groups *g, const struct sides *runs)
{
	s->groups = (struct groups){ .list = calloc(g->nr + 1, sizeof(*g->list)),
				     .by = g->by,
				     .most_sides = g->most_sides };
	if (!s->groups.list)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr; i++) {
		struct group *one = &s->groups.list[s->groups.nr];

		*one = (struct group){ .name = g->list[i].name,
				       .sides = calloc(g->list[i].nr, sizeof(*one->sides)),
				       .nr = g->list[i].nr };
		if (!one->sides)
			return -ENOMEM;
		s->groups.nr++;
		for (size_t k = 0; k < one->nr; k++)
			one->sides[k] = &s->sides[g->list[i].sides[k] - runs->list];
	}
	return 0;
}

static int step_count_spans(struct step *s, const struct groups *g, const struct sides *runs)
{
	double *of_group = calloc(g->most_sides, sizeof(*of_group));
	bool is_whole;

	s->counts = calloc(g->nr, sizeof(*s->counts));
	for (size_t i = 0; of_group && s->counts && i < g->nr; i++) {
		const struct group *one = &g->list[i];

		for (size_t k = 0; k < one->nr; k++)
			of_group[k] = (double)s->spans[one->sides[k] - runs->list];
		stats_sort(of_group, one->nr);
		s->counts[i] = stats_quantile(of_group, one->nr, 0.5);
	}
	is_whole = of_group && s->counts;
	free(of_group);
	return is_whole ? 0 : -ENOMEM;
}

int steps_compare(struct steps *all, const struct groups *g, const struct sides *runs)
{
	int err = steps_make_room(all, runs->nr); /* the last ones may have no spans */

	for (size_t i = 0; !err && i < all->nr; i++) {
		err = step_make_groups(&all->list[i], g, runs);
		if (!err)
			err = step_count_spans(&all->list[i], g, runs);
		if (!err)
			err = groups_compare(&all->list[i].comparison, &all->list[i].groups);
	}
	return err;
}
