// SPDX-License-Identifier: BSD-2-Clause
#include "run/member_reader.h"

#include "base/jansson_memory.h"
#include "base/number.h"
#include "base/text.h"
#include "run/process.h"
#include "run/run.h"
#include "run/tree.h"

#include <errno.h>
#include <stdio.h>

#define MOST_BYTES (3 * (size_t)RUN_WORD_BYTES) /* an invalid byte becomes three bytes */

/* An object of the line while it is being read. */
struct object {
	const struct target *t;
	const struct object *above; /* enclosing object; NULL: the line */
	const char *key;            /* its key in the enclosing object */
	size_t next;                /* first row of the table that may follow in order */
	int metric;                 /* first metric that may follow in order */
	bool has_odd_key;           /* a key has escapes or is not ASCII */
	const struct member *late;  /* derived number, to be set after all others */
	uint64_t late_value;
};

static void word_cut(json_t *v, size_t most)
{
	const char *text = json_string_value(v);

	if (text && json_string_length(v) > most)
		json_string_setn_nocheck(v, text, text_cut_bytes(text, most));
}

static void tags_cut(json_t *tags, size_t most)
{
	const char *key;
	json_t *v;
	void *next;
	size_t nr = 0;

	json_object_foreach_safe(tags, next, key, v)
	{
		if (nr++ < most && strlen(key) < MOST_BYTES)
			word_cut(v, MOST_BYTES - strlen(key));
		else
			json_object_del(tags, key);
	}
}

/* Truncates names and tags, which exports repeat in each line, to the limits of recording. */
static void words_cut(json_t *o, size_t most_tags)
{
	static const char *const words[] = { "run", "name", "job", "host", "user" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		word_cut(json_object_get(o, words[i]), MOST_BYTES);
	tags_cut(json_object_get(o, "tags"), most_tags);
}

void reading_cut(struct reading *r)
{
	if (r->most_tags)
		words_cut(r->tree, r->most_tags);
}

json_t *reading_tree(struct reading *r)
{
	if (r->tree || r->is_bad)
		return r->tree;
	r->tree = jansson_loadb(r->text, r->length, JSON_ALLOW_NUL, NULL);
	r->is_bad = !r->tree;
	reading_cut(r);
	return r->tree;
}

/* Returns the tree of an object of the line, or NULL. */
static json_t *object_tree(struct reading *r, const struct object *o)
{
	return o->above ? json_object_get(object_tree(r, o->above), o->key) : reading_tree(r);
}

static uint64_t *object_values(const struct object *o)
{
	return (uint64_t *)((char *)o->t->of + o->t->table->value);
}

static struct metric_set *object_metrics(const struct object *o)
{
	return (struct metric_set *)((char *)o->t->of + o->t->table->have);
}

/* Sets a number; out of range it becomes 0. */
static void member_set_number(struct object *o, const struct member *m, uint64_t n)
{
	void *at = member_at(o->t->of, m);

	if (m->type == TYPE_UINT)
		*(uint32_t *)at = n <= UINT32_MAX ? (uint32_t)n : 0;
	else if (m->type == TYPE_TIME)
		*(uint64_t *)at = n <= UINT64_MAX / 1000 ? n * 1000 : 0;
	else if (m->type == TYPE_DERIVED)
		o->late = m, o->late_value = n;
	else
		*(uint64_t *)at = n;
}

static unsigned member_decimals(const struct member *m)
{
	return m->type == TYPE_TIME ? 6 : metric_unit_decimals(m->unit);
}

/* Copies the arguments to r->pull.to, which has room, as they are not longer than the line. */
static bool args_take(struct reading *r, struct process *p, const json_t *list)
{
	char *start = r->pull.to;
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		size_t n = json_string_length(v);

		if (json_is_string(v))
			memcpy(r->pull.to, json_string_value(v), n);
		r->pull.to += n;
		*r->pull.to++ = '\0';
	}
	p->args = i ? start : NULL;
	p->args_length = (size_t)(r->pull.to - start);
	return i;
}

/* Sets a member from a value of the tree, which may be NULL. Returns false if the type is wrong. */
static bool member_set_from_tree(struct reading *r, struct object *o, const struct member *m,
				 json_t *v)
{
	void *at = member_at(o->t->of, m);
	const char *text = json_string_value(v);
	uint64_t n = 0;
	bool is_there;

	switch (m->type) {
	case TYPE_NUMBER:
	case TYPE_UINT:
	case TYPE_TIME:
	case TYPE_DERIVED:
		is_there = value_read_number(v, member_decimals(m), &n);
		member_set_number(o, m, n);
		return is_there;
	case TYPE_INT:
	case TYPE_STATUS:
		*(int32_t *)at = value_read_int32(v);
		return json_is_integer(v);
	case TYPE_TRUTH:
	case TYPE_LOSSY:
		*(bool *)at = json_is_true(v);
		return v;
	case TYPE_TEXT:
		snprintf(at, m->size, "%s", text ? text : "");
		return text;
	case TYPE_STRING:
		*(const char **)at = text;
		return text;
	case TYPE_COMM:
		comm_copy(at, text ? text : "", SIZE_MAX);
		return text;
	case TYPE_STATE:
		*(char *)at = text ? *text : '\0';
		return text;
	case TYPE_ARGS:
		return args_take(r, o->t->of, v);
	case TYPE_CLOCK:
		return v;
	default:
		return o->t->part && o->t->part(r, o->t->of, m, v);
	}
}

static bool pull_args(struct pull *p, struct process *of)
{
	const char *text, *start = p->at;
	char *to = p->to;
	size_t length;

	of->args = to;
	if (PULL_TAKE(p, "[") && pull_text(p, &text, &length)) {
		while (PULL_TAKE(p, ","))
			if (!pull_text(p, &text, &length))
				break;
		of->args_length = (size_t)(p->to - of->args);
		if (PULL_TAKE(p, "]"))
			return true;
	}
	p->at = start;
	p->to = to;
	return false;
}

/* Sets a member that stores its text inline. Returns false if the text is not plain. */
static bool member_pull_text(struct reading *r, const struct member *m, char *at)
{
	const char *text;
	size_t length;

	if (!pull_text(&r->pull, &text, &length))
		return false;
	if (m->type == TYPE_STATE) {
		*at = *text;
		r->is_plain &= length == 1;
	} else if (m->type == TYPE_COMM) {
		comm_copy(at, text, SIZE_MAX);
		r->is_plain &= length < COMM_TEXT_BYTES;
	} else {
		snprintf(at, m->size, "%s", text);
	}
	return true;
}

/* Sets a member from the text of its value. Returns false, at the value, if it is not plain. */
static bool member_pull(struct reading *r, struct object *o, const struct member *m, bool *is_there)
{
	void *at = member_at(o->t->of, m);
	struct pull *p = &r->pull;
	const char *start = p->at;
	unsigned decimals = member_decimals(m);
	size_t length;
	uint64_t n;

	*is_there = true;
	switch (m->type) {
	case TYPE_CLOCK:
		return pull_number(p, 6, UINT64_MAX, &n);
	case TYPE_TIME:
	case TYPE_STATUS:
		*is_there = !PULL_TAKE(p, "null");
		if (!*is_there)
			return true;
		if (m->type == TYPE_STATUS)
			return pull_int32(p, at);
		/* fallthrough */
	case TYPE_NUMBER:
	case TYPE_UINT:
	case TYPE_DERIVED:
		if (!pull_number(p, decimals, decimals ? UINT64_MAX : NUMBER_MAX, &n))
			return false;
		member_set_number(o, m, n);
		return m->type != TYPE_UINT || n <= UINT32_MAX;
	case TYPE_INT:
		return pull_int32(p, at);
	case TYPE_TRUTH:
	case TYPE_LOSSY:
		*(bool *)at = PULL_TAKE(p, "true");
		return *(bool *)at || PULL_TAKE(p, "false");
	case TYPE_STRING:
		*is_there = !PULL_TAKE(p, "null");
		/* a tree has truncated names, which have to be used */
		return !*is_there || (!r->tree && pull_text(p, at, &length));
	case TYPE_TEXT:
	case TYPE_COMM:
	case TYPE_STATE:
		return member_pull_text(r, m, at);
	case TYPE_ARGS:
		return pull_args(p, o->t->of);
	default:
		if (o->t->pull && o->t->pull(r, o->t->of, m))
			return true;
		p->at = start;
		return false;
	}
}

static void metric_take(struct reading *r, struct object *o, enum metric_id id)
{
	uint64_t *value = &object_values(o)[id];
	const json_t *v = json_object_get(object_tree(r, o), metric_get(id)->key);

	*value = 0;
	metric_drop(object_metrics(o), id);
	if (value_read_number(v, metric_decimals(id), value))
		metric_put(object_metrics(o), id);
}

static void metric_pull(struct reading *r, struct object *o, enum metric_id id)
{
	unsigned decimals = metric_decimals(id);

	if (!metric_has(object_metrics(o), id) &&
	    pull_number(&r->pull, decimals, decimals ? UINT64_MAX : NUMBER_MAX,
			&object_values(o)[id])) {
		metric_put(object_metrics(o), id);
		return;
	}
	r->is_plain = false;
	r->is_bad |= !pull_skip(&r->pull);
	metric_take(r, o, id);
}

static void object_read(struct reading *r, struct object *o);

static void member_read_row(struct reading *r, struct object *o, size_t at)
{
	const struct member *m = &o->t->table->rows[at];
	struct target inner = *o->t;

	if (!r->seen[at] && m->type == TYPE_OBJECT && PULL_TAKE(&r->pull, "{")) {
		inner.in = m->opens;
		r->seen[at] = r->has[at] = true;
		object_read(r, &(struct object){ .t = &inner, .above = o, .key = m->key });
		return;
	}
	if (r->seen[at] && m->type >= TYPE_OBJECT && !o->t->pull) {
		r->is_plain = false; /* of duplicate keys the first counts */
		r->is_bad |= !pull_skip(&r->pull);
		return;
	}
	if (r->seen[at] || !member_pull(r, o, m, &r->has[at])) {
		r->is_plain = false;
		r->is_bad |= !pull_skip(&r->pull);
		r->has[at] =
			m->type != TYPE_OBJECT &&
			member_set_from_tree(r, o, m, json_object_get(object_tree(r, o), m->key));
	}
	r->seen[at] = true;
}

/* Clears is_plain if a row between @from and @to that every line has was not seen. */
static void rows_check_skipped(struct reading *r, const struct object *o, size_t from, size_t to)
{
	const struct member *rows = o->t->table->rows;

	for (size_t i = from; i < to; i++)
		if (rows[i].in == o->t->in && member_is_required(&rows[i]) && !r->seen[i])
			r->is_plain = false;
}

/* Returns the metric among those after o->metric, or NR_METRICS. */
static int metric_next(const struct object *o, const char *key, size_t length)
{
	for (int i = o->metric; i < NR_METRICS; i++)
		if (metric_has(o->t->metrics, (enum metric_id)i) &&
		    text_is(key, length, metric_get((enum metric_id)i)->key))
			return i;
	return NR_METRICS;
}

/* Reads the value of a key in table order. Returns false if the key is not in order. */
static bool member_read_next(struct reading *r, struct object *o, const char *key, size_t length)
{
	const struct member_table *t = o->t->table;

	for (size_t i = o->next; i < t->nr; i++) {
		int metric;

		if (t->rows[i].in != o->t->in)
			continue;
		if (t->rows[i].type == TYPE_COUNTERS) {
			metric = metric_next(o, key, length);
			if (metric == NR_METRICS)
				continue;
			rows_check_skipped(r, o, o->next, i);
			o->next = i;
			o->metric = metric + 1;
			metric_pull(r, o, (enum metric_id)metric);
			return true;
		}
		if (text_is(key, length, t->rows[i].key)) {
			rows_check_skipped(r, o, o->next, i);
			o->next = i + 1;
			member_read_row(r, o, i);
			return true;
		}
	}
	return false;
}

/* Reads the value of a key out of order; skips that of an unknown key. */
static void member_read_unordered(struct reading *r, struct object *o, const char *key,
				  size_t length)
{
	const struct member_table *t = o->t->table;
	bool has_metrics = false;
	enum metric_id id;

	r->is_plain = false;
	for (size_t i = 0; i < t->nr; i++) {
		if (t->rows[i].in != o->t->in)
			continue;
		has_metrics |= t->rows[i].type == TYPE_COUNTERS;
		if (length && text_is(key, length, t->rows[i].key)) {
			member_read_row(r, o, i);
			return;
		}
	}
	if (has_metrics && !metric_find(key, length, &id) && metric_has(o->t->metrics, id))
		metric_pull(r, o, id);
	else
		r->is_bad |= !pull_skip(&r->pull);
}

/* Sets all remaining members of an object from its tree. */
static void object_take(struct reading *r, struct object *o)
{
	const struct member_table *t = o->t->table;
	json_t *tree = object_tree(r, o);

	for (size_t i = 0; i < t->nr; i++) {
		const struct member *m = &t->rows[i];
		struct target inner = *o->t;

		if (m->in != o->t->in || r->seen[i] || !json_is_object(tree))
			continue;
		r->seen[i] = true;
		if (m->type == TYPE_COUNTERS) {
			for (int n = 0; n < NR_METRICS; n++)
				if (metric_has(o->t->metrics, (enum metric_id)n))
					metric_take(r, o, (enum metric_id)n);
		} else if (m->type == TYPE_OBJECT) {
			inner.in = m->opens;
			r->has[i] = json_is_object(json_object_get(tree, m->key));
			object_take(r, &(struct object){ .t = &inner, .above = o, .key = m->key });
		} else {
			r->has[i] = member_set_from_tree(r, o, m, json_object_get(tree, m->key));
		}
	}
	if (o->late && o->late->set)
		o->late->set(o->t->of, o->late_value);
}

static void object_read(struct reading *r, struct object *o)
{
	struct pull *p = &r->pull;
	const char *key;
	size_t length;
	bool is_plain;

	pull_blanks(p);
	if (p->at < p->end && *p->at != '}' && (*p->at == ',') != (!o->above && r->has_begun))
		r->is_bad = true;
	while (!r->is_bad && p->at < p->end && *p->at != '}') {
		if (*p->at == ',')
			p->at++;
		pull_blanks(p);
		if (!pull_key(p, &key, &length, &is_plain)) {
			r->is_bad = true;
			return;
		}
		o->has_odd_key |= !is_plain;
		pull_blanks(p);
		if (!member_read_next(r, o, key, length))
			member_read_unordered(r, o, key, length);
		pull_blanks(p);
		/* otherwise leave the decision to the tree's parser */
		r->is_plain &= pull_is_end_of_value(p);
		if (p->at < p->end && *p->at != ',' && *p->at != '}')
			r->is_bad = true;
	}
	if (p->at == p->end)
		r->is_bad = true;
	else
		p->at++;
	rows_check_skipped(r, o, o->next, o->t->table->nr);
	if (o->has_odd_key && !r->is_bad)
		object_take(r, o);
	else if (o->late && o->late->set)
		o->late->set(o->t->of, o->late_value);
}

/* Sets the bools that mark members as present: true only if all of their members were read. */
static void members_finish(struct reading *r, const struct target *t)
{
	const struct member *rows = t->table->rows;

	for (size_t i = 0; i < t->table->nr; i++)
		if (rows[i].there == THERE_IF_HAS)
			*member_has(t->of, &rows[i]) = true;
	for (size_t i = 0; i < t->table->nr; i++) {
		if (rows[i].there == THERE_IF_HAS && !r->has[i])
			*member_has(t->of, &rows[i]) = false;
		if (rows[i].there == THERE_HAS_OR_NULL && rows[i].type == TYPE_STATUS)
			*member_has(t->of, &rows[i]) |= r->has[i];
	}
	for (size_t i = 0; i < t->table->nr; i++)
		if ((rows[i].there == THERE_IF_SET || rows[i].there == THERE_BESIDE) && r->has[i] &&
		    !member_is_there(t->of, &rows[i]))
			r->is_plain = false;
	for (size_t i = 0; i < t->table->nr; i++)
		if (rows[i].there == THERE_WITH && rows[i].in == t->in && !r->has[i] &&
		    *member_has(t->of, &rows[i]))
			r->is_plain = false;
}

void members_read(struct reading *r, const struct target *t)
{
	struct object o = { .t = t };

	memset(r->has, 0, sizeof(r->has));
	memset(r->seen, 0, sizeof(r->seen));
	object_read(r, &o);
	members_finish(r, t);
}

void members_read_tree(struct reading *r, const struct target *t)
{
	struct object o = { .t = t };

	memset(r->has, 0, sizeof(r->has));
	memset(r->seen, 0, sizeof(r->seen));
	object_take(r, &o);
	members_finish(r, t);
}
