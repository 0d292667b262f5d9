// SPDX-License-Identifier: BSD-2-Clause
#include "run/reader.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "run/member_reader.h"
#include "run/span.h"
#include "run/run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stores the tags as "key=value" in memory of the line; there are none if memory runs out. */
static void span_read_tags(struct line *l, json_t *tags)
{
	struct span_label *label = &l->span.label;
	size_t length = label_measure_tags(tags);
	const char *key;
	char *at;
	json_t *v;

	free(l->tags);
	l->tags = at = length ? memory_malloc(length) : NULL;
	if (!at)
		return;
	json_object_foreach(tags, key, v)
		if (json_is_string(v) && label->nr_tags < MAX_SPAN_TAGS)
			label_add_tag(label, &at, key, v);
}

int line_set_args(struct line *l, const void *args)
{
	const json_t *list = args;
	size_t length = 0, i;
	const json_t *v;
	char *at;

	json_array_foreach(list, i, v)
		length += json_string_length(v) + 1;
	if (length > l->args_room) {
		at = memory_realloc(l->args, length);
		if (!at)
			return -ENOMEM;
		l->args = at;
		l->args_room = length;
	}
	at = l->args;
	json_array_foreach(list, i, v) {
		if (json_is_string(v))
			memcpy(at, json_string_value(v), json_string_length(v));
		at += json_string_length(v);
		*at++ = 0;
	}
	l->process.args = l->args;
	l->process.args_length = length;
	return 0;
}

static void meta_read(struct line *l, json_t *o)
{
	json_t *units = json_object_get(o, "units"), *v;
	const char *key;
	enum metric_id id;

	l->wanted = (struct metric_set){ 0 };
	json_object_foreach(units, key, v)
		if (!metric_find(key, strlen(key), &id))
			metric_put(&l->wanted, id);
	l->start_epoch_ns = member_read_epoch(o, "start_time");
}

#define MOST_INSTANCES 128 /* compared pairwise; a longer list is read from the tree */

/* Reads "name":{ before the members of an object. */
static bool pull_object(struct pull *p, const char **name, size_t room)
{
	size_t length;

	return pull_text(p, name, &length) && length && length < room && PULL_TAKE(p, ":{");
}

/* Returns false for a duplicate, of which the tree has the last, or if there are too many. */
static bool instance_is_new(const struct sample *smp, const char *dimension, const char *name)
{
	for (size_t i = 0; i < smp->nr_instances; i++)
		if (!strcmp(smp->instances[i].dimension, dimension) &&
		    (!name || !strcmp(smp->instances[i].name, name)))
			return false;
	return smp->nr_instances < MOST_INSTANCES;
}

static bool pull_metrics(struct pull *p, struct instance *i)
{
	bool is_plain;
	const char *key;
	enum metric_id id;
	size_t length;

	for (;;) {
		if (!pull_key(p, &key, &length, &is_plain) || metric_find(key, length, &id) ||
		    metric_has(&i->have, id) ||
		    !pull_number(p, metric_decimals(id),
				 metric_decimals(id) ? UINT64_MAX : NUMBER_MAX, &i->value[id]))
			return false;
		metric_put(&i->have, id);
		if (!PULL_TAKE(p, ","))
			return PULL_TAKE(p, "}");
	}
}

static bool pull_instance(struct pull *p, const char *dimension, struct sample *smp)
{
	struct instance *i;
	const char *name;

	if (!pull_object(p, &name, INSTANCE_BYTES) || !instance_is_new(smp, dimension, name))
		return false;
	i = sample_add_instance(smp, dimension, name);
	return i && (PULL_TAKE(p, "}") || pull_metrics(p, i));
}

static bool pull_instances(struct pull *p, struct sample *smp)
{
	const char *dimension;

	if (!PULL_TAKE(p, "{"))
		return false;
	do {
		if (!pull_object(p, &dimension, DIMENSION_BYTES) ||
		    !instance_is_new(smp, dimension, NULL))
			return false;
		do {
			if (!pull_instance(p, dimension, smp))
				return false;
		} while (PULL_TAKE(p, ","));
	} while (PULL_TAKE(p, "},"));
	return PULL_TAKE(p, "}}");
}

static void sample_drop_instances(struct sample *s)
{
	free(s->instances);
	s->instances = NULL;
	s->nr_instances = 0;
}

static bool sample_pull_part(struct reading *r, void *of, const struct member *m)
{
	(void)m;
	sample_drop_instances(of);
	return pull_instances(&r->pull, of);
}

static bool sample_read_part(struct reading *r, void *of, const struct member *m, const json_t *v)
{
	struct sample *s = of;

	(void)r, (void)m;
	sample_drop_instances(s);
	instances_read(v, s);
	return s->nr_instances;
}

static void sample_read(struct line *l, struct reading *r)
{
	struct metric_set all;
	const struct target t = { &sample_members, 0, &l->sample, &all, sample_read_part,
				  sample_pull_part };

	sample_reset(&l->sample);
	metric_set_all(&all);
	members_read(r, &t);
}

/* Returns false for impossible values: an ended process has a status or a signal. */
static bool process_is_plain(const struct process *p, bool has_status, bool has_signal)
{
	if (!p->has_ended)
		return !has_status && !has_signal && !p->end_epoch_ns;
	return has_status != has_signal && (!has_signal || p->signal);
}

static void process_read(struct line *l, struct reading *r)
{
	struct process *p = &l->process;
	struct metric_set of = { 0 };
	const struct target t = { &process_members, 0, p, &of, NULL, NULL };
	bool has_status = false, has_signal = false;

	*p = (struct process){ 0 };
	metric_set_put_of_process(&of);
	members_read(r, &t);
	p->has_ended = !p->state;
	for (size_t i = 0; i < process_members.nr; i++) {
		const struct member *m = &process_members.rows[i];

		if (m->type == TYPE_STATUS && m->offset == m->signal)
			has_signal = r->has[i];
		else if (m->type == TYPE_STATUS)
			has_status = r->has[i];
	}
	r->is_plain &= process_is_plain(p, has_status, has_signal);
}

static void process_sample_read(struct line *l, struct reading *r)
{
	struct process_sample *p = &l->process_sample;
	struct metric_set of, always;
	const struct target t = { &process_sample_members, 0, p, &of, NULL, NULL };

	*p = (struct process_sample){ 0 };
	process_sample_metrics(&always);
	metric_put(&always, M_threads);
	of = always;
	metric_set_put_of_process(&of);
	members_read(r, &t);
	r->is_plain &= !p->exe || p->has_parent;
	if (p->has_parent)
		return;
	/* other values exist only in a live feed, together with the parent */
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&p->have, (enum metric_id)i) ||
		    metric_has(&always, (enum metric_id)i))
			continue;
		metric_drop(&p->have, (enum metric_id)i);
		p->value[i] = 0;
		r->is_plain = false;
	}
	p->ppid = 0;
	p->uid = 0;
	p->exe = NULL;
}

static bool span_read_part(struct reading *r, void *of, const struct member *m, const json_t *v)
{
	struct span *s = of;

	(void)r, (void)m;
	s->label.nr_tags = 0;
	return json_is_object(v);
}

static void span_read(struct line *l, struct reading *r)
{
	struct span *s = &l->span;
	const struct metric_set none = { 0 };
	const struct target t = { &span_members, 0, s, &none, span_read_part, NULL };
	struct summary used = s->used;
	const char *start = r->pull.at;

	*s = (struct span){ .used = used };
	members_read(r, &t);
	if (!s->label.name)
		s->label.name = "";
	span_read_tags(l, json_object_get(r->tree, "tags"));
	r->pull.at = start;
	summary_read_line(r, &s->used);
}

static void summary_read(struct line *l, struct reading *r)
{
	summary_read_line(r, &l->summary);
}

static void meta_read_line(struct line *l, struct reading *r)
{
	if (r->tree)
		meta_read(l, r->tree);
}

static const struct kind {
	const char *name;
	enum line_kind kind;
	void (*read)(struct line *l, struct reading *r);
	bool may_be_plain; /* the line can be read without a tree */
	size_t most_tags;  /* number of tags to keep in the tree; 0: all */
} kinds[] = {
	{ "sample", LINE_SAMPLE, sample_read, true, 0 },
	{ "process", LINE_PROCESS, process_read, true, 0 },
	{ "process_sample", LINE_PROCESS_SAMPLE, process_sample_read, true, 0 },
	{ "meta", LINE_META, meta_read_line, false, MAX_TAGS },
	{ "event", LINE_EVENT, NULL, false, 0 },
	{ "summary", LINE_SUMMARY, summary_read, false, 0 },
	{ "metric", LINE_METRIC, NULL, false, 0 },
	{ "span", LINE_SPAN, span_read, false, MAX_SPAN_TAGS },
};
static const struct kind other_kind = { "", LINE_OTHER, NULL, false, 0 };

/* Returns the kind of a line that begins with it, as bpfmon writes it, or NULL. */
static const struct kind *kind_pull(struct pull *p)
{
	static const char start[] = "{\"kind\":\"";
	const char *name = p->at + sizeof(start) - 1, *end;

	if (!PULL_TAKE(p, start))
		return NULL;
	end = memchr(name, '"', (size_t)(p->end - name));
	for (size_t i = 0; end && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!text_is(name, (size_t)(end - name), kinds[i].name))
			continue;
		p->at = end + 1;
		return &kinds[i];
	}
	return NULL;
}

bool line_may_be(const char *text, size_t length, unsigned parts)
{
	struct pull p = { .at = text, .end = text + length };
	const struct kind *k = kind_pull(&p);

	/* meta and summary are always read, and a line that ends here is incomplete */
	return !k || p.at == p.end || k->kind == LINE_META || k->kind == LINE_SUMMARY ||
	       parts & PART(k->kind);
}

/* Returns the kind according to the tree, or NULL if it has none. */
static const struct kind *kind_of_tree(const json_t *tree)
{
	const char *name = json_string_value(json_object_get(tree, "kind"));

	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return name ? &other_kind : NULL;
}

/* Makes room for copies of all texts, whose NULs take no more than the quotes. */
static bool line_make_room(struct line *l, size_t length)
{
	char *room;

	if (length <= l->args_room)
		return true;
	room = memory_realloc(l->args, length * 2);
	if (!room)
		return false;
	l->args = room;
	l->args_room = length * 2;
	return true;
}

/* Reads the values of a line of the kind, whose members begin at @at. */
static void kind_read(struct line *l, struct reading *r, const struct kind *k, const char *at)
{
	if (!k->may_be_plain)
		reading_tree(r);
	r->pull = (struct pull){ .at = at, .end = r->text + r->length, .to = l->args };
	r->has_begun = at > r->text && at[-1] == '"';
	r->is_plain = k->may_be_plain;
	if (k->read && !r->is_bad)
		k->read(l, r);
	if (r->pull.at < r->pull.end)
		PULL_TAKE(&r->pull, "\n");
	r->is_plain &= r->pull.at == r->pull.end && !r->pull.has_blank && r->has_begun;
}

/* Returns where the members of another program's line begin, or NULL if it is no object. */
static const char *members_find(const struct reading *r)
{
	struct pull p = { .at = r->text, .end = r->text + r->length };

	pull_blanks(&p);
	return PULL_TAKE(&p, "{") ? p.at : NULL;
}

static int line_read_as(struct line *l, struct reading *r, bool wants_tree)
{
	struct pull p = { .at = r->text, .end = r->text + r->length };
	const struct kind *k = kind_pull(&p), *found;
	const char *at = p.at;

	r->most_tags = k ? k->most_tags : 0;
	if (k)
		kind_read(l, r, k, at);
	if (k && r->is_plain && !wants_tree && !r->is_bad)
		goto done;
	found = kind_of_tree(reading_tree(r));
	/* of two kinds, line_may_be() would see the first and the tree has the last */
	if (!found || r->is_bad || (k && found != k))
		return -EBADMSG;
	if (found != k) {
		at = members_find(r);
		k = found;
		r->most_tags = k->most_tags;
		reading_cut(r);
		if (at)
			kind_read(l, r, k, at);
		if (!at || r->is_bad)
			return -EBADMSG;
	}
done:
	json_decref(l->tree);
	l->tree = r->tree;
	l->kind = k->kind;
	return 0;
}

static int line_read_into(struct line *l, const char *text, size_t length, bool wants_tree)
{
	struct reading r = { .text = text, .length = length };
	size_t failures = memory_failures_of_thread();
	int err = line_make_room(l, length) ? line_read_as(l, &r, wants_tree) : -ENOMEM;

	if (err)
		json_decref(r.tree);
	return memory_failures_of_thread() > failures ? -ENOMEM : err;
}

int line_read(struct line *l, const char *text, size_t length)
{
	return line_read_into(l, text, length, true);
}

int line_read_quick(struct line *l, const char *text, size_t length)
{
	return line_read_into(l, text, length, false);
}

int line_check_meta(const struct line *l)
{
	const char *schema = json_string_value(json_object_get(l->tree, "schema"));

	if (l->kind != LINE_META || !schema || strncmp(schema, "bpfmon/", 7) != 0)
		return -EBADMSG;
	return strcmp(schema, "bpfmon/1") ? -EPROTONOSUPPORT : 0;
}

const char *line_get_event(const struct line *l)
{
	return l->kind == LINE_EVENT ? json_string_value(json_object_get(l->tree, "event")) : NULL;
}

const char *line_get_mark(const struct line *l, size_t *length, uint64_t *elapsed_ns)
{
	const char *event = line_get_event(l);
	const json_t *text = json_object_get(l->tree, "text");

	if (!event || strcmp(event, "mark") != 0 || !json_is_string(text))
		return NULL;
	*length = json_string_length(text);
	*elapsed_ns = member_read_number(l->tree, "elapsed_seconds", 9);
	return json_string_value(text);
}

void line_done(struct line *l)
{
	sample_reset(&l->sample);
	free(l->args);
	free(l->tags);
	summary_done(&l->summary);
	summary_done(&l->span.used);
	json_decref(l->tree);
	*l = (struct line){ 0 };
}
