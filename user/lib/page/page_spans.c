// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_spans.h"

#include "base/memory.h"
#include "page/excerpt.h"
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

/* Keeps the upper bound of the largest peak only if each span has one. */
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
		names = memory_reallocarray(all->names, room, sizeof(*names));
		if (!names)
			return NULL;
		all->names = names;
		all->room_names = room;
	}
	names = &all->names[all->nr_names];
	*names = (struct span_name){ .text = memory_strdup(text), .place = SIZE_MAX };
	if (!names->text)
		return NULL;
	all->nr_names++;
	return names;
}

/* Finds or adds a name. *@name stays NULL if there are too many. */
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

/* Returns the tags as one text, or NULL if there are none. Sets *@err without memory. */
static char *span_tags_join(const struct span_label *label, int *err)
{
	char *text = NULL;
	size_t length;
	FILE *f;

	if (!label->nr_tags)
		return NULL;
	f = memory_open_memstream(&text, &length);
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

/* A parent takes at least as long as the spans within it, so it is kept with them. */
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
	list = memory_reallocarray(all->list, room, sizeof(*list));
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

static void spans_finish(struct report_spans *all)
{
	if (all->nr > SPANS_SHOWN)
		spans_prune(all);
}

#define TEXTS_BYTES (1UL << 18) /* of all texts in the page */
#define TEXT_SHOWN 200          /* of each text */

/* Writes a negative time if a span of an attached process began before the run. */
static void span_put_time(struct jsonw *j, uint64_t epoch_ns, uint64_t start_ns)
{
	if (!epoch_ns)
		jsonw_null(j, NULL);
	else if (epoch_ns >= start_ns)
		jsonw_decimal(j, NULL, (epoch_ns - start_ns) / 1000, 6);
	else
		jsonw_int(j, NULL, -(int64_t)((start_ns - epoch_ns) / 1000000000));
}

static void span_put_number(struct jsonw *j, bool is_known, uint64_t v)
{
	if (is_known)
		jsonw_uint(j, NULL, v);
	else
		jsonw_null(j, NULL);
}

static void span_totals_put(struct jsonw *j, const struct span_totals *t)
{
	jsonw_decimal(j, NULL, t->wall_ns / 1000, 6);
	jsonw_uint(j, NULL, t->processes);
	span_put_number(j, t->has_peak, t->peak_bytes);
	span_put_number(j, t->has_upper, t->upper_bytes);
	for (size_t i = 0; i < SPAN_METRICS; i++) {
		if (t->has[i])
			jsonw_decimal(j, NULL, t->value[i], metric_decimals(span_metrics[i]));
		else
			jsonw_null(j, NULL);
	}
}

/* Writes the NULL-terminated @own fields, and those of span_totals_put(). */
static void span_fields_put(struct jsonw *j, const char *key, const char *const *own)
{
	jsonw_array(j, key);
	for (; *own; own++)
		jsonw_string(j, NULL, *own);
	jsonw_string(j, NULL, "wall_seconds");
	jsonw_string(j, NULL, "processes_total");
	jsonw_string(j, NULL, "rss_peak_bytes");
	jsonw_string(j, NULL, "rss_peak_upper_bytes");
	for (size_t i = 0; i < SPAN_METRICS; i++)
		jsonw_string(j, NULL, metric_get(span_metrics[i])->key);
	jsonw_array_end(j);
}

/* A name with one span is written as text only, since its row has the rest. */
static void span_put_name(struct jsonw *j, const struct span_name *n, uint64_t start_ns,
			  size_t limit)
{
	if (n->spans == 1) {
		excerpt_put(j, n->text, limit, CUT_END);
		return;
	}
	jsonw_array(j, NULL);
	excerpt_put(j, n->text, limit, CUT_END);
	jsonw_uint(j, NULL, n->spans);
	jsonw_uint(j, NULL, n->failed);
	jsonw_uint(j, NULL, n->broken);
	jsonw_uint(j, NULL, n->open);
	span_put_time(j, n->first_epoch_ns, start_ns);
	span_put_time(j, n->last_epoch_ns, start_ns);
	jsonw_decimal(j, NULL, n->longest_ns / 1000, 6);
	span_totals_put(j, &n->used);
	jsonw_array_end(j);
}

static void span_put_row(struct jsonw *j, const struct report_span *s, size_t name,
			 uint64_t start_ns, size_t limit)
{
	jsonw_array(j, NULL);
	jsonw_uint(j, NULL, name);
	jsonw_uint(j, NULL, s->id);
	jsonw_uint(j, NULL, s->parent);
	jsonw_int(j, NULL, s->pid);
	if (s->tags)
		excerpt_put(j, s->tags, limit, CUT_END);
	else
		jsonw_null(j, NULL);
	span_put_time(j, s->start_epoch_ns, start_ns);
	span_put_time(j, s->end_epoch_ns, start_ns);
	if (s->has_status && !s->signal)
		jsonw_int(j, NULL, s->exit_code);
	else
		jsonw_null(j, NULL);
	span_put_number(j, s->has_status && s->signal, (uint64_t)s->signal);
	jsonw_bool(j, NULL, s->complete);
	span_totals_put(j, &s->used);
	jsonw_array_end(j);
}

/*
 * Writes names in the order of their first use. Names without a span in the page are omitted: all
 * their spans are shorter than those shown.
 */
static void spans_put_names(struct report_spans *all, struct jsonw *j, uint64_t start_ns,
			    size_t limit)
{
	size_t nr = 0;

	jsonw_array(j, "names");
	for (size_t i = 0; i < all->nr; i++) {
		struct span_name *n = &all->names[all->list[i].name];

		if (n->place != SIZE_MAX)
			continue;
		n->place = nr++;
		span_put_name(j, n, start_ns, limit);
	}
	jsonw_array_end(j);
}

static size_t spans_limit_texts(const struct report_spans *all)
{
	size_t limit = TEXTS_BYTES / (2 * all->nr);

	return limit < TEXT_SHOWN ? limit : TEXT_SHOWN;
}

void spans_write(struct report_spans *all, uint64_t start_ns, struct jsonw *j)
{
	static const char *const of_name[] = { "name", "spans", "failed", "broken",
					       "open", "start", "end",    "longest_seconds",
					       NULL };
	static const char *const of_span[] = { "name",   "id",       "parent", "pid",
					       "tags",   "start",    "end",    "exit_code",
					       "signal", "complete", NULL };
	size_t limit;

	spans_finish(all);
	if (!all->nr)
		return;
	limit = spans_limit_texts(all);
	jsonw_object(j, "spans");
	jsonw_uint(j, "total", all->total);
	jsonw_uint(j, "unnamed", all->unnamed);
	jsonw_uint(j, "names_total", all->nr_names);
	span_fields_put(j, "name_fields", of_name);
	spans_put_names(all, j, start_ns, limit);
	span_fields_put(j, "fields", of_span);
	jsonw_array(j, "rows");
	for (size_t i = 0; i < all->nr; i++)
		span_put_row(j, &all->list[i], all->names[all->list[i].name].place, start_ns,
			     limit);
	jsonw_array_end(j);
	jsonw_object_end(j);
}
