// SPDX-License-Identifier: BSD-2-Clause
/* Rows of what has ended, by program and by name of a span; the values of rows of any kind. */
#include "top/table_parts.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct scene *ended_scene; /* of the one thread that draws */

static int ended_compare(const void *a, const void *b)
{
	const struct ended_program *x = &ended_scene->ended[((const struct table_row *)a)->index];
	const struct ended_program *y = &ended_scene->ended[((const struct table_row *)b)->index];
	uint64_t left = x->used.value[MEASURE_CPU], right = y->used.value[MEASURE_CPU];

	return left != right ? (left < right) - (left > right)
			     : (x->program > y->program) - (x->program < y->program);
}

int table_add_ended(struct tree_walk *w)
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

		if (w->choice->filter[0] && !text_holds(name, w->choice->filter))
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

/* Those in another span are in its sum already, which only the heading has. */
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

int table_add_spans(struct tree_walk *w)
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

/* What began a span and all below it is the span, from its beginning on. */
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
