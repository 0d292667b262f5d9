// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_table.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree_walk {
	struct table *rows;
	const struct model *model;
	const struct scene *scene;
	const struct row_choice *choice;
	uint64_t guides;
};

bool row_key_is(const struct row_key *a, const struct row_key *b)
{
	return a->kind == b->kind && a->id == b->id && a->pid == b->pid;
}

static size_t row_choice_find(const struct row_choice *c, const struct row_key *key)
{
	size_t i = 0;

	while (i < c->nr_folded && !row_key_is(&c->folded[i], key))
		i++;
	return i;
}

void row_choice_fold(struct row_choice *c, const struct row_key *key)
{
	size_t i = row_choice_find(c, key);

	if (i < c->nr_folded)
		c->folded[i] = c->folded[--c->nr_folded];
	else if (c->nr_folded < MAX_FOLDED)
		c->folded[c->nr_folded++] = *key;
}

static bool table_grow_array(void *array, size_t nr, size_t size)
{
	void **at = array, *grown = memory_reallocarray(*at, nr, size);

	if (grown)
		*at = grown;
	return grown;
}

static int table_make_room(struct table *r, const struct scene *s)
{
	size_t room = s->nr_actors * 2;

	if (s->nr_actors <= r->room_actors)
		return 0;
	if (!table_grow_array(&r->order, room, sizeof(*r->order)) ||
	    !table_grow_array(&r->first, room, sizeof(*r->first)) ||
	    !table_grow_array(&r->next, room, sizeof(*r->next)) ||
	    !table_grow_array(&r->number, room, sizeof(*r->number)) ||
	    !table_grow_array(&r->is_shown, room, sizeof(*r->is_shown)))
		return -ENOMEM;
	r->room_actors = room;
	return 0;
}

static struct table_row *table_append(struct table *r)
{
	if (r->nr == r->room) {
		size_t room = r->room ? 2 * r->room : 128;

		if (!table_grow_array(&r->list, room, sizeof(*r->list)))
			return NULL;
		r->room = room;
	}
	r->list[r->nr] = (struct table_row){ .is_last = true };
	return &r->list[r->nr++];
}

static bool task_matches(const struct model *m, const struct task *t, const char *filter)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", t->pid);
	return text_contains(t->comm, filter) || !strcmp(pid, filter) ||
	       (t->args && text_contains(t->args, filter)) ||
	       text_contains(m->programs[t->program].name, filter);
}

/* Marks the actors that match, and in a tree also their ancestors. */
static void actors_filter(struct table *r, const struct model *m, const struct scene *s,
			  const struct row_choice *c)
{
	for (size_t i = 0; i < s->nr_actors; i++)
		r->is_shown[i] =
			!c->filter[0] || task_matches(m, &m->tasks[s->actors[i].task], c->filter);
	for (size_t i = s->nr_actors; !c->is_flat && i-- > 0;)
		if (r->is_shown[i] && s->actors[i].parent >= 0)
			r->is_shown[s->actors[i].parent] = true;
}

/* For qsort(); only one thread draws. */
static const struct {
	const struct table *rows;
	const struct model *model;
	const struct scene *scene;
	const struct row_choice *choice;
} * sorting;

static int actor_compare_texts(const struct task *x, const struct task *y)
{
	if (sorting->choice->sort == COLUMN_USER && x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return sorting->choice->sort == COLUMN_COMMAND ? strcmp(x->comm, y->comm) : 0;
}

static int actor_compare_rows(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct model *m = sorting->model;
	const struct column *column = &columns[sorting->choice->sort];
	double left = sorting->rows->number[x], right = sorting->rows->number[y];
	int order = (left > right) - (left < right);

	if (!order)
		order = actor_compare_texts(&m->tasks[sorting->scene->actors[x].task],
					    &m->tasks[sorting->scene->actors[y].task]);
	if (column->is_ascending == sorting->choice->is_reversed)
		order = -order;
	/* otherwise older processes first, as in @actors */
	return order ? order : (x > y) - (x < y);
}

static void actor_values(const struct model *m, const struct scene *s, const struct actor *a,
			 struct row_values *v)
{
	*v = (struct row_values){ .task = &m->tasks[a->task],
				  .own = &a->own,
				  .sum = &a->sum,
				  .grown = &a->grown,
				  .sum_grown = &a->sum_grown,
				  .at_ns = s->at_ns,
				  .span_ns = s->at_ns - s->before_ns };
}

static void actors_sort(struct table *r, const struct model *m, const struct scene *s,
			const struct row_choice *c)
{
	struct row_values v;
	__typeof__(*sorting) what = { r, m, s, c };

	for (size_t i = 0; i < s->nr_actors; i++) {
		actor_values(m, s, &s->actors[i], &v);
		r->number[i] = column_number(c->sort, &v);
		r->order[i] = (uint32_t)i;
		r->first[i] = r->next[i] = 0;
	}
	sorting = &what;
	if (s->nr_actors)
		qsort(r->order, s->nr_actors, sizeof(*r->order), actor_compare_rows);
	sorting = NULL;
}

/* Links children in display order. Returns the list of roots. */
static uint32_t actors_chain(struct table *r, const struct scene *s, const struct row_choice *c)
{
	uint32_t roots = 0;

	for (size_t i = s->nr_actors; i-- > 0;) {
		uint32_t at = r->order[i];
		int32_t parent = c->is_flat ? -1 : s->actors[at].parent;
		uint32_t *head = parent < 0 ? &roots : &r->first[parent];

		if (!r->is_shown[at])
			continue;
		r->next[at] = *head;
		*head = at + 1;
	}
	return roots;
}

/* Returns the running span that the process itself began, or -1. */
static int64_t span_of_task(const struct model *m, const struct scene *s, const struct task *t)
{
	for (size_t i = 0; i < m->nr_spans; i++) {
		const struct model_span *span = &m->spans[i];

		if (span->pid == t->pid && !span->in_place && span->start_ns <= s->at_ns &&
		    span->end_ns > s->at_ns && span->start_ns >= t->start_ns)
			return (int64_t)i;
	}
	return -1;
}

static struct table_row *walk_add(struct tree_walk *w, struct row_key key, uint32_t index,
				  unsigned depth, bool is_last)
{
	struct table_row *row = table_append(w->rows);
	uint8_t d = (uint8_t)(depth < MAX_DEPTH ? depth : MAX_DEPTH);

	if (!row)
		return NULL;
	row->key = key;
	row->index = index;
	row->depth = d;
	row->is_last = is_last;
	w->guides = is_last ? w->guides & ~(1ULL << d) : w->guides | 1ULL << d;
	row->guides = w->guides & ((1ULL << d) - 1);
	row->is_folded = row_choice_find(w->choice, &key) < w->choice->nr_folded;
	return row;
}

/* Rows of ended programs and spans. */

/* For qsort(); only one thread draws. */
static const struct scene *ended_scene;

static int ended_compare(const void *a, const void *b)
{
	const struct ended_program *x = &ended_scene->ended[((const struct table_row *)a)->index];
	const struct ended_program *y = &ended_scene->ended[((const struct table_row *)b)->index];
	uint64_t left = x->used.value[MEASURE_CPU], right = y->used.value[MEASURE_CPU];

	return left != right ? (left < right) - (left > right)
			     : (x->program > y->program) - (x->program < y->program);
}

static int table_add_ended(struct tree_walk *w)
{
	const struct scene *s = w->scene;
	struct table_row *row;
	size_t first;

	if (!s->nr_ended || w->choice->hides_ended)
		return 0;
	row = walk_add(w, (struct row_key){ .kind = ROW_ENDED }, 0, 0, true);
	if (!row)
		return -ENOMEM;
	row->can_fold = true;
	if (row->is_folded)
		return 0;
	first = w->rows->nr;
	for (size_t i = 0; i < s->nr_ended; i++) {
		const char *name = w->model->programs[s->ended[i].program].name;

		if (w->choice->filter[0] && !text_contains(name, w->choice->filter))
			continue;
		if (!walk_add(w, (struct row_key){ ROW_PROGRAM, s->ended[i].program, 0 },
			      (uint32_t)i, 1, false))
			return -ENOMEM;
	}
	ended_scene = s;
	qsort(w->rows->list + first, w->rows->nr - first, sizeof(*w->rows->list), ended_compare);
	if (w->rows->nr > first)
		w->rows->list[w->rows->nr - 1].is_last = true;
	return 0;
}

static struct span_name *table_find_span(struct table *r, const char *name)
{
	for (size_t i = 0; i < r->nr_spans; i++)
		if (!strcmp(r->spans[i].name, name))
			return &r->spans[i];
	if (r->nr_spans == r->room_spans) {
		size_t room = r->room_spans ? 2 * r->room_spans : 16;

		if (!table_grow_array(&r->spans, room, sizeof(*r->spans)))
			return NULL;
		r->room_spans = room;
	}
	r->spans[r->nr_spans] = (struct span_name){ .name = name };
	return &r->spans[r->nr_spans++];
}

/* The sum omits nested spans, which are part of their parents. */
static int spans_collect(struct table *r, const struct model *m, const struct scene *s)
{
	r->nr_spans = 0;
	r->all_spans = (struct span_name){ .name = "" };
	for (size_t i = 0; i < m->nr_spans; i++) {
		const struct model_span *span = &m->spans[i];
		struct span_name *to;

		if (span->end_ns > s->at_ns)
			continue;
		to = table_find_span(r, span->name);
		if (!to)
			return -ENOMEM;
		to->nr++;
		usage_add_counters(&to->used, &span->used);
		r->all_spans.nr++;
		if (!span->parent)
			usage_add_counters(&r->all_spans.used, &span->used);
	}
	return 0;
}

static int table_add_spans(struct tree_walk *w)
{
	struct table_row *row;
	int err = spans_collect(w->rows, w->model, w->scene);

	if (err || !w->rows->nr_spans || w->choice->hides_ended)
		return err;
	row = walk_add(w, (struct row_key){ .kind = ROW_SPANS }, 0, 0, true);
	if (!row)
		return -ENOMEM;
	row->can_fold = true;
	if (row->is_folded)
		return 0;
	for (size_t i = 0; i < w->rows->nr_spans; i++)
		if (!walk_add(w, (struct row_key){ ROW_SPAN_NAME, i, 0 }, (uint32_t)i, 1,
			      i + 1 == w->rows->nr_spans))
			return -ENOMEM;
	return 0;
}

/*
 * Adds a process with its span above it. *@depth becomes the depth of its children, or -1 if
 * folded.
 */
static int walk_add_task(struct tree_walk *w, uint32_t at, int *depth)
{
	const struct task *t = &w->model->tasks[w->scene->actors[at].task];
	struct row_key key = { ROW_TASK, t->start_epoch_ns, t->pid };
	int64_t span = w->choice->is_flat ? -1 : span_of_task(w->model, w->scene, t);
	bool is_last = !w->rows->next[at];
	struct table_row *row;

	if (span >= 0) {
		row = walk_add(w, (struct row_key){ ROW_SPAN, w->model->spans[span].id, t->pid },
			       (uint32_t)span, (unsigned)*depth, is_last);
		if (!row)
			return -ENOMEM;
		row->can_fold = true;
		if (row->is_folded) {
			*depth = -1;
			return 0;
		}
		++*depth;
		is_last = true;
	}
	row = walk_add(w, key, at, (unsigned)*depth, is_last);
	if (!row)
		return -ENOMEM;
	row->can_fold = w->rows->first[at] != 0;
	row->is_folded = row->is_folded && row->can_fold;
	*depth = row->is_folded ? -1 : *depth + 1;
	return 0;
}

static int table_walk(struct tree_walk *w, uint32_t roots, int depth)
{
	const struct scene *s = w->scene;
	uint32_t at = roots;
	/* the depth at which the rows of each process begin, for its siblings */
	int *depths = memory_malloc((s->nr_actors + 1) * sizeof(*depths));
	int err = depths ? 0 : -ENOMEM;

	while (!err && at) {
		uint32_t i = at - 1;
		int below = depth;

		depths[i] = depth;
		err = walk_add_task(w, i, &below);
		if (below >= 0 && w->rows->first[i]) {
			depth = below;
			at = w->rows->first[i];
			continue;
		}
		while (!w->rows->next[i] && !w->choice->is_flat && s->actors[i].parent >= 0)
			i = (uint32_t)s->actors[i].parent;
		depth = depths[i];
		at = w->rows->next[i];
	}
	free(depths);
	return err;
}

int table_build(struct table *r, const struct model *m, const struct scene *s,
		const struct row_choice *c)
{
	struct tree_walk w = { .rows = r, .model = m, .scene = s, .choice = c };
	struct table_row *run;
	uint32_t roots;
	int err = table_make_room(r, s);

	if (err)
		return err;
	r->nr = 0;
	actors_filter(r, m, s, c);
	actors_sort(r, m, s, c);
	roots = actors_chain(r, s, c);
	run = walk_add(&w, (struct row_key){ .kind = ROW_RUN }, 0, 0, true);
	if (!run)
		return -ENOMEM;
	run->can_fold = roots != 0;
	if (!run->is_folded)
		err = table_walk(&w, roots, 1);
	if (!err)
		err = table_add_ended(&w);
	return err ? err : table_add_spans(&w);
}

void table_done(struct table *r)
{
	free(r->list);
	free(r->spans);
	free(r->order);
	free(r->first);
	free(r->next);
	free(r->number);
	free(r->is_shown);
	*r = (struct table){ 0 };
}

/* A span has the values of the subtree of the process that began it. */
static void span_values(const struct model *m, const struct scene *s, const struct model_span *span,
			struct row_values *v)
{
	for (size_t i = 0; i < s->nr_actors; i++)
		if (m->tasks[s->actors[i].task].pid == span->pid) {
			actor_values(m, s, &s->actors[i], v);
			v->own = v->grown = NULL;
			v->task = NULL;
		}
}

void row_values(const struct table *r, const struct model *m, const struct scene *s,
		const struct table_row *row, struct row_values *v)
{
	*v = (struct row_values){ .at_ns = s->at_ns, .span_ns = s->at_ns - s->before_ns };
	switch (row->key.kind) {
	case ROW_RUN:
		v->sum = &s->run;
		v->sum_grown = &s->run_grown;
		break;
	case ROW_TASK:
		actor_values(m, s, &s->actors[row->index], v);
		break;
	case ROW_SPAN:
		span_values(m, s, &m->spans[row->index], v);
		break;
	case ROW_ENDED:
		v->sum = &s->ended_used;
		break;
	case ROW_PROGRAM:
		v->sum = &s->ended[row->index].used;
		break;
	case ROW_SPANS:
		v->sum = &r->all_spans.used;
		break;
	case ROW_SPAN_NAME:
		v->sum = &r->spans[row->index].used;
		break;
	}
}
