// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_spans.h"

#include "run/span_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM ((size_t)2 * SPANS_SHOWN)

const enum metric_id span_metrics[SPAN_METRICS] = { M_cpu, M_read, M_write };

void report_spans_done(struct report_spans *all)
{
	for (size_t i = 0; i < all->nr; i++)
		free(all->list[i].tags);
	for (size_t i = 0; i < all->nr_names; i++)
		free(all->names[i].text);
	free(all->list);
	free(all->names);
	json_decref(all->index);
	*all = (struct report_spans){ 0 };
}

static uint64_t span_get_wall(const struct span *s)
{
	if (!s->end_epoch_ns)
		return s->used.wall_ns;
	return s->end_epoch_ns > s->start_epoch_ns ? s->end_epoch_ns - s->start_epoch_ns : 0;
}

static struct span_totals span_get_totals(const struct span *s)
{
	const struct summary *u = &s->used;
	struct span_totals t = {
		.wall_ns = span_get_wall(s),
		.processes = u->processes_total,
	};

	t.has_peak = span_value_get(u, SPAN_PEAK, &t.peak_bytes);
	t.has_upper = span_value_get(u, SPAN_PEAK_UPPER, &t.upper_bytes);
	for (size_t i = 0; i < SPAN_METRICS; i++) {
		t.has[i] = sample_has(&u->total, span_metrics[i]);
		t.value[i] = t.has[i] ? u->total.value[span_metrics[i]] : 0;
	}
	return t;
}

static uint64_t larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The largest peak of several spans has an upper bound only if each of them has one. */
static void span_totals_add(struct span_totals *sum, const struct span_totals *t, bool is_first)
{
	sum->wall_ns += t->wall_ns;
	sum->processes += t->processes;
	sum->has_peak |= t->has_peak;
	sum->peak_bytes = larger_of(sum->peak_bytes, t->peak_bytes);
	sum->has_upper = t->has_upper && (is_first || sum->has_upper);
	sum->upper_bytes = larger_of(sum->upper_bytes, t->upper_bytes);
	for (size_t i = 0; i < SPAN_METRICS; i++) {
		sum->has[i] |= t->has[i];
		sum->value[i] += t->value[i];
	}
}

static struct span_name *span_names_append(struct report_spans *all, const char *text)
{
	size_t room = all->room_names ? all->room_names * 2 : 64;
	struct span_name *names;

	if (all->nr_names == all->room_names) {
		names = reallocarray(all->names, room, sizeof(*names));
		if (!names)
			return NULL;
		all->names = names;
		all->room_names = room;
	}
	names = &all->names[all->nr_names];
	*names = (struct span_name){ .text = strdup(text), .place = SIZE_MAX };
	if (!names->text)
		return NULL;
	all->nr_names++;
	return names;
}

/* *@name stays NULL if there are too many others already. */
static int span_names_find(struct report_spans *all, const char *text, struct span_name **name)
{
	const json_t *place = json_object_get(all->index, text);

	*name = NULL;
	if (place) {
		*name = &all->names[json_integer_value(place)];
		return 0;
	}
	if (all->nr_names == SPAN_NAMES)
		return 0;
	if (!all->index)
		all->index = json_object();
	if (json_object_set_new(all->index, text, json_integer((json_int_t)all->nr_names)))
		return -ENOMEM;
	*name = span_names_append(all, text);
	return *name ? 0 : -ENOMEM;
}

static bool span_has_failed(const struct span *s)
{
	return s->used.has_status && (s->used.exit_code || s->used.signal);
}

static void span_name_add(struct span_name *n, const struct span *s, const struct span_totals *t)
{
	if (!n->spans || s->start_epoch_ns < n->first_epoch_ns)
		n->first_epoch_ns = s->start_epoch_ns;
	n->last_epoch_ns = larger_of(n->last_epoch_ns, s->end_epoch_ns);
	n->longest_ns = larger_of(n->longest_ns, t->wall_ns);
	n->failed += span_has_failed(s);
	n->broken += !s->used.complete;
	n->open += !s->end_epoch_ns;
	span_totals_add(&n->used, t, !n->spans);
	n->spans++;
}

/* As one text; NULL: there are none, or no memory. */
static char *span_tags_join(const struct span_label *label, int *err)
{
	char *text = NULL;
	size_t length;
	FILE *f;

	if (!label->nr_tags)
		return NULL;
	f = open_memstream(&text, &length);
	for (size_t i = 0; f && i < label->nr_tags; i++)
		fprintf(f, "%s%s", i ? ", " : "", label->tags[i]);
	if (f && !fclose(f))
		return text;
	free(text);
	*err = -ENOMEM;
	return NULL;
}

static int report_span_compare(const void *a, const void *b)
{
	const struct report_span *x = a, *y = b;

	if (x->used.wall_ns != y->used.wall_ns)
		return x->used.wall_ns < y->used.wall_ns ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

/* A parent takes as long as the spans within it, or longer: it stays where they do. */
static void spans_prune(struct report_spans *all)
{
	qsort(all->list, all->nr, sizeof(*all->list), report_span_compare);
	while (all->nr > SPANS_SHOWN)
		free(all->list[--all->nr].tags);
	all->least_ns = all->list[all->nr - 1].used.wall_ns;
	all->is_pruned = true;
}

static int report_spans_make_room(struct report_spans *all)
{
	size_t room = all->room ? all->room * 2 : 64;
	struct report_span *list;

	if (all->nr == ROOM)
		spans_prune(all);
	if (all->nr < all->room)
		return 0;
	list = reallocarray(all->list, room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	all->room = room;
	return 0;
}

static int spans_keep(struct report_spans *all, const struct span *s, size_t name,
		      const struct span_totals *t)
{
	struct report_span *new;
	int err = report_spans_make_room(all);

	if (err)
		return err;
	new = &all->list[all->nr];
	*new = (struct report_span){
		.id = s->id,
		.parent = s->parent,
		.pid = s->pid,
		.name = name,
		.tags = span_tags_join(&s->label, &err),
		.start_epoch_ns = s->start_epoch_ns,
		.end_epoch_ns = s->end_epoch_ns,
		.complete = s->used.complete,
		.has_status = s->used.has_status,
		.exit_code = s->used.exit_code,
		.signal = s->used.signal,
		.used = *t,
	};
	all->nr += !err;
	return err;
}

int spans_add(struct report_spans *all, const struct span *s)
{
	struct span_totals t = span_get_totals(s);
	struct span_name *name;
	int err = span_names_find(all, s->label.name, &name);

	if (err)
		return err;
	all->total++;
	if (!name) {
		all->unnamed++;
		return 0;
	}
	span_name_add(name, s, &t);
	if (all->is_pruned && t.wall_ns <= all->least_ns)
		return 0;
	return spans_keep(all, s, (size_t)(name - all->names), &t);
}

void spans_finish(struct report_spans *all)
{
	if (all->nr > SPANS_SHOWN)
		spans_prune(all);
}
