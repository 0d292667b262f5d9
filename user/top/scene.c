// SPDX-License-Identifier: BSD-2-Clause
#include "top/scene.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int scene_make_room(struct scene *s, const struct model *m)
{
	if (m->nr_tasks > s->room_of_task) {
		size_t room = m->nr_tasks * 2;
		uint32_t *of_task = memory_reallocarray(s->of_task, room, sizeof(*of_task));

		if (!of_task)
			return -ENOMEM;
		s->of_task = of_task;
		s->room_of_task = room;
	}
	if (m->nr_programs > s->room_ended) {
		struct ended_program *ended =
			memory_reallocarray(s->ended, m->room_programs, sizeof(*ended));

		if (!ended)
			return -ENOMEM;
		s->ended = ended;
		s->room_ended = m->room_programs;
	}
	if (s->of_task)
		memset(s->of_task, 0, m->nr_tasks * sizeof(*s->of_task));
	return 0;
}

static struct actor *actors_append(struct scene *s)
{
	if (s->nr_actors == s->room_actors) {
		size_t room = s->room_actors ? 2 * s->room_actors : 64;
		struct actor *actors = memory_reallocarray(s->actors, room, sizeof(*actors));

		if (!actors)
			return NULL;
		s->actors = actors;
		s->room_actors = room;
	}
	return &s->actors[s->nr_actors++];
}

/*
 * Stores what the task had used by then. Nothing is known of an unsampled task before its record.
 */
static void task_usage_at(const struct task *t, int64_t at_ns, struct usage *u)
{
	const struct point *p = task_point_at(t, at_ns);

	if (t->end_ns <= at_ns)
		*u = t->last;
	else if (p)
		*u = p->used;
	else
		*u = (struct usage){ 0 };
}

static int actors_collect(struct scene *s, const struct model *m)
{
	for (size_t i = 0; i < m->nr_tasks; i++) {
		const struct task *t = &m->tasks[i];
		struct usage before;
		struct actor *a;

		if (!task_lives_at(t, s->at_ns))
			continue;
		a = actors_append(s);
		if (!a)
			return -ENOMEM;
		*a = (struct actor){ .task = (uint32_t)i, .parent = -1 };
		task_usage_at(t, s->at_ns, &a->own);
		task_usage_at(t, s->before_ns, &before);
		usage_add_growth(&a->grown, &a->own, &before);
		a->sum = a->own;
		usage_add_counters(&a->sum, &t->folded);
		a->sum_grown = a->grown;
	}
	return 0;
}

static const struct model *sorted_model; /* for qsort(); only one thread draws */

static int actor_compare(const void *a, const void *b)
{
	const struct task *x = &sorted_model->tasks[((const struct actor *)a)->task];
	const struct task *y = &sorted_model->tasks[((const struct actor *)b)->task];

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Returns the nearest live ancestor as index of an actor, or -1. */
static int32_t task_live_ancestor(const struct scene *s, const struct model *m,
				  const struct task *t)
{
	for (uint32_t at = t->parent; at; at = m->tasks[at - 1].parent)
		if (s->of_task[at - 1])
			return (int32_t)s->of_task[at - 1] - 1;
	return -1;
}

static void ended_count(struct scene *s, const struct model *m, const struct task *t)
{
	struct usage used = { 0 }, before, grown = { 0 };
	int32_t above = task_live_ancestor(s, m, t);
	struct ended_program *e = &s->ended[t->program];

	usage_add_counters(&used, &t->last);
	usage_add_counters(&used, &t->folded);
	e->nr++;
	usage_add_counters(&e->used, &t->last);
	if (t->rss_peak_bytes > e->rss_peak_bytes)
		e->rss_peak_bytes = t->rss_peak_bytes;
	s->nr_ended_processes++;
	usage_add_counters(&s->ended_used, &t->last);
	if (t->end_ns > s->before_ns) {
		task_usage_at(t, s->before_ns, &before);
		usage_add_growth(&grown, &t->last, &before);
	}
	usage_add_counters(above < 0 ? &s->orphaned : &s->actors[above].sum, &used);
	usage_add_counters(above < 0 ? &s->total_grown : &s->actors[above].sum_grown, &grown);
	if (above >= 0)
		s->actors[above].nr_below++;
}

static void ended_collect(struct scene *s, const struct model *m)
{
	memset(s->ended, 0, m->nr_programs * sizeof(*s->ended));
	for (size_t i = 0; i < m->nr_programs; i++) {
		s->ended[i].program = (uint32_t)i;
		s->ended[i].nr = m->programs[i].nr_folded;
		s->ended[i].used = m->programs[i].folded;
		s->nr_ended_processes += m->programs[i].nr_folded;
		usage_add_counters(&s->ended_used, &m->programs[i].folded);
	}
	s->orphaned = m->folded;
	for (size_t i = 0; i < m->nr_tasks; i++)
		if (m->tasks[i].end_ns <= s->at_ns && m->tasks[i].start_ns <= s->at_ns)
			ended_count(s, m, &m->tasks[i]);
	for (size_t i = 0; i < m->nr_programs; i++)
		if (s->ended[i].nr)
			s->ended[s->nr_ended++] = s->ended[i];
}

/*
 * Parents precede their children, so in reverse order each actor is complete when added to its
 * parent.
 */
static void actors_sum(struct scene *s)
{
	for (size_t i = s->nr_actors; i-- > 0;) {
		const struct actor *a = &s->actors[i];
		struct actor *above = a->parent < 0 ? NULL : &s->actors[a->parent];

		if (!above) {
			usage_add(&s->total, &a->sum);
			usage_add_counters(&s->total_grown, &a->sum_grown);
			continue;
		}
		above->nr_children++;
		above->nr_below += a->nr_below;
		usage_add(&above->sum, &a->sum);
		usage_add_counters(&above->sum_grown, &a->sum_grown);
	}
	usage_add_counters(&s->total, &s->orphaned);
}

/* Samples also include resources that are in no record yet. */
static void run_sum(struct scene *s, const struct model *m, size_t moment)
{
	s->run = s->total;
	s->run_grown = s->total_grown;
	if (moment == SIZE_MAX)
		return;
	s->run = m->moments[moment].total;
	s->run_grown = (struct usage){ 0 };
	usage_add_growth(&s->run_grown, &s->run,
			 moment ? &m->moments[moment - 1].total : &s->run_grown);
}

int scene_build(struct scene *s, struct model *m, int64_t at_ns)
{
	size_t moment = model_moment_at(m, at_ns);
	int err = scene_make_room(s, m);

	if (err)
		return err;
	s->at_ns = at_ns;
	s->before_ns = 0;
	if (moment != SIZE_MAX && moment > 0)
		s->before_ns = m->moments[moment - 1].at_ns;
	s->nr_actors = s->nr_ended = s->nr_ended_processes = 0;
	s->ended_used = s->orphaned = s->total = (struct usage){ 0 };
	s->total_grown = (struct usage){ 0 };
	model_link(m);
	err = actors_collect(s, m);
	if (err)
		return err;
	sorted_model = m;
	if (s->nr_actors)
		qsort(s->actors, s->nr_actors, sizeof(*s->actors), actor_compare);
	for (size_t i = 0; i < s->nr_actors; i++)
		s->of_task[s->actors[i].task] = (uint32_t)i + 1;
	for (size_t i = 0; i < s->nr_actors; i++)
		s->actors[i].parent = task_live_ancestor(s, m, &m->tasks[s->actors[i].task]);
	if (m->nr_programs)
		ended_collect(s, m);
	actors_sum(s);
	run_sum(s, m, moment);
	return 0;
}

void scene_done(struct scene *s)
{
	free(s->actors);
	free(s->ended);
	free(s->of_task);
	*s = (struct scene){ 0 };
}

const struct actor *scene_find(const struct scene *s, uint32_t task)
{
	return task < s->room_of_task && s->of_task[task] ? &s->actors[s->of_task[task] - 1] : NULL;
}
