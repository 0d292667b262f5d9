// SPDX-License-Identifier: BSD-2-Clause
#include "run/reader.h"

#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"
#include "run/exact.h"
#include "run/span.h"
#include "run/run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLE_IS_EXACT (1ULL << 51) /* below it llround() gives back what was written */

static void metric_read(enum metric_id id, const json_t *v, uint64_t *values,
			struct metric_set *have)
{
	if (value_read_number(v, metric_decimals(id), &values[id]))
		metric_put(have, id);
}

/* What a process, or a group of them, has used: not "processes", which there counts the group. */
void usage_read(json_t *o, uint64_t *values, struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const enum metric_id id = (enum metric_id)i;

		if (metric_is_of_process(id))
			metric_read(id, json_object_get(o, metric_get(id)->key), values, have);
	}
}

static void metrics_read_of(const struct metric_set *set, json_t *o, uint64_t *values,
			    struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		const enum metric_id id = (enum metric_id)i;

		if (metric_has(set, id))
			metric_read(id, json_object_get(o, metric_get(id)->key), values, have);
	}
}

void metrics_read(json_t *o, uint64_t *values, struct metric_set *have)
{
	enum metric_id id;
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
		if (!metric_find(key, strlen(key), &id))
			metric_read(id, v, values, have);
}

/* Names and tags, which exports repeat in each line: no longer in a file than recording allows. */

#define MOST_BYTES (3 * (size_t)RUN_WORD_BYTES) /* a byte that is not UTF-8 has become three */

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

static void words_cut(json_t *o, size_t most_tags)
{
	static const char *const words[] = { "run", "name", "job", "host", "user" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		word_cut(json_object_get(o, words[i]), MOST_BYTES);
	tags_cut(json_object_get(o, "tags"), most_tags);
}

/* As "key=value", in memory of the line; without memory there are none. */
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

/* The line of a span read back. */

static void span_read(struct line *l, json_t *o)
{
	struct span *s = &l->span;
	struct summary used = s->used;

	words_cut(o, MAX_SPAN_TAGS);
	*s = (struct span){ .used = used };
	s->id = member_read_number(o, "id", 0);
	s->parent = member_read_number(o, "parent", 0);
	s->pid = value_read_int32(json_object_get(o, "pid"));
	s->in_place = json_is_true(json_object_get(o, "in_place"));
	s->label.name = json_string_value(json_object_get(o, "name"));
	if (!s->label.name)
		s->label.name = "";
	span_read_tags(l, json_object_get(o, "tags"));
	s->start_epoch_ns = member_read_epoch(o, "start_time");
	s->end_epoch_ns = member_read_epoch(o, "end_time");
	summary_read_members(&s->used, o);
}

/* The values of instances ("by") in the lines of samples and of the summary, read from the tree. */

/* A name that there is no room for is not cut: two could become one. */
static bool instance_fits(const char *dimension, const char *name)
{
	return *dimension && strlen(dimension) < DIMENSION_BYTES && strlen(name) < INSTANCE_BYTES;
}

static void dimension_read(const char *dimension, json_t *all, struct sample *s)
{
	struct instance *i;
	const char *name;
	json_t *v;

	json_object_foreach(all, name, v) {
		if (!json_is_object(v) || !instance_fits(dimension, name) ||
		    s->nr_instances == MAX_INSTANCES)
			continue;
		i = sample_add_instance(s, dimension, name);
		if (i)
			metrics_read(v, i->value, &i->have);
	}
}

void instances_read(const json_t *by, struct sample *s)
{
	const char *dimension;
	json_t *all;

	json_object_foreach((json_t *)by, dimension, all)
		dimension_read(dimension, all, s);
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

static void process_read(struct line *l, json_t *o)
{
	struct process *p = &l->process;
	const json_t *args = json_object_get(o, "args");
	const char *state = json_string_value(json_object_get(o, "state"));

	*p = (struct process){ .has_ended = !state };
	p->pid = value_read_int32(json_object_get(o, "pid"));
	p->ns_pid = value_read_int32(json_object_get(o, "ns_pid"));
	p->ppid = value_read_int32(json_object_get(o, "ppid"));
	p->uid = member_read_uint32(o, "uid");
	p->span = member_read_number(o, "span", 0);
	comm_read(p->comm, o);
	p->exe = json_string_value(json_object_get(o, "exe"));
	if (json_array_size(args))
		line_set_args(l, args); /* without memory there are none */
	p->args_cut = json_is_true(json_object_get(o, "args_cut"));
	p->start_epoch_ns = member_read_epoch(o, "start_time");
	p->joined_epoch_ns = member_read_epoch(o, "joined_time");
	p->left_epoch_ns = member_read_epoch(o, "left_time");
	p->end_epoch_ns = member_read_epoch(o, "end_time");
	p->exit_code = value_read_int32(json_object_get(o, "exit_code"));
	p->signal = value_read_int32(json_object_get(o, "signal"));
	p->state = state ? *state : 0;
	p->threads_total = member_read_uint32(o, "threads_total");
	p->execs = member_read_uint32(o, "execs");
	p->has_rss_peak = member_read_bytes(o, "rss_peak_bytes", &p->rss_peak_bytes);
	p->rss_peak_exact = json_is_true(json_object_get(o, "rss_peak_exact"));
	p->children_cpu_ns = member_read_number(o, "children_cpu_seconds", 9);
	p->lossy = json_is_true(json_object_get(o, "lossy"));
	usage_read(o, p->value, &p->have);
}

static void process_sample_read(struct line *l, json_t *o)
{
	struct process_sample *p = &l->process_sample;
	struct metric_set set;

	*p = (struct process_sample){ 0 };
	p->elapsed_ns = member_read_number(o, "elapsed_seconds", 9);
	p->pid = value_read_int32(json_object_get(o, "pid"));
	comm_read(p->comm, o);
	p->start_epoch_ns = member_read_epoch(o, "start_time");
	p->lossy = json_is_true(json_object_get(o, "lossy"));
	process_sample_metrics(&set);
	metric_put(&set, M_threads);
	metrics_read_of(&set, o, p->value, &p->have);
	p->has_parent = json_is_integer(json_object_get(o, "ppid"));
	if (!p->has_parent)
		return;
	/* of a live feed: what its record will have, so far */
	p->ppid = value_read_int32(json_object_get(o, "ppid"));
	p->uid = member_read_uint32(o, "uid");
	p->exe = json_string_value(json_object_get(o, "exe"));
	usage_read(o, p->value, &p->have);
}

static void sample_read(struct line *l, json_t *o)
{
	sample_reset(&l->sample);
	l->sample.elapsed_ns = member_read_number(o, "elapsed_seconds", 9);
	metrics_read(o, l->sample.value, &l->sample.have);
	instances_read(json_object_get(o, "by"), &l->sample);
}

static void meta_read(struct line *l, json_t *o)
{
	json_t *units = json_object_get(o, "units"), *v;
	const char *key;
	enum metric_id id;

	words_cut(o, MAX_TAGS);
	l->wanted = (struct metric_set){ 0 };
	json_object_foreach(units, key, v)
		if (!metric_find(key, strlen(key), &id))
			metric_put(&l->wanted, id);
	l->start_epoch_ns = member_read_epoch(o, "start_time");
}

/* What a double was too coarse for, read once more. */
static void number_refine(uint64_t *v, const char *key, unsigned decimals, const char *text,
			  size_t length)
{
	if (decimals && *v >= DOUBLE_IS_EXACT)
		exact_decimal(text, length, key, decimals, v);
}

static void metrics_refine(uint64_t *values, const struct metric_set *have, const char *text,
			   size_t length)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			number_refine(&values[i], metric_get((enum metric_id)i)->key,
				      metric_decimals((enum metric_id)i), text, length);
}

static void summary_refine(struct summary *s, const char *text, size_t length)
{
	number_refine(&s->wall_ns, "wall_seconds", 9, text, length);
	metrics_refine(s->total.value, &s->total.have, text, length);
}

static void line_refine(struct line *l, const char *text, size_t length)
{
	if (l->kind == LINE_SAMPLE) {
		number_refine(&l->sample.elapsed_ns, "elapsed_seconds", 9, text, length);
		metrics_refine(l->sample.value, &l->sample.have, text, length);
	} else if (l->kind == LINE_PROCESS) {
		metrics_refine(l->process.value, &l->process.have, text, length);
	} else if (l->kind == LINE_PROCESS_SAMPLE) {
		number_refine(&l->process_sample.elapsed_ns, "elapsed_seconds", 9, text, length);
		metrics_refine(l->process_sample.value, &l->process_sample.have, text, length);
	} else if (l->kind == LINE_SUMMARY) {
		summary_refine(&l->summary, text, length);
	} else if (l->kind == LINE_SPAN) {
		summary_refine(&l->span.used, text, length);
	}
}

bool line_may_be(const char *text, size_t length, unsigned parts)
{
	static const struct {
		const char *start;
		enum line_kind kind;
	} kinds[] = {
		{ "{\"kind\":\"sample\"", LINE_SAMPLE },
		{ "{\"kind\":\"process\"", LINE_PROCESS },
		{ "{\"kind\":\"process_sample\"", LINE_PROCESS_SAMPLE },
		{ "{\"kind\":\"event\"", LINE_EVENT },
		{ "{\"kind\":\"metric\"", LINE_METRIC },
		{ "{\"kind\":\"span\"", LINE_SPAN },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].start);

		if (length > n && !memcmp(text, kinds[i].start, n))
			return parts & PART(kinds[i].kind);
	}
	return true;
}

int line_read(struct line *l, const char *text, size_t length)
{
	static const struct {
		const char *name;
		enum line_kind kind;
		void (*read)(struct line *l, json_t *o);
	} kinds[] = {
		{ "sample", LINE_SAMPLE, sample_read },
		{ "process", LINE_PROCESS, process_read },
		{ "meta", LINE_META, meta_read },
		{ "event", LINE_EVENT, NULL },
		{ "summary", LINE_SUMMARY, summary_read },
		{ "metric", LINE_METRIC, NULL },
		{ "process_sample", LINE_PROCESS_SAMPLE, process_sample_read },
		{ "span", LINE_SPAN, span_read },
	};
	size_t failures = memory_failures_of_thread();
	const char *kind;
	json_t *o;

	o = jansson_loadb(text, length, JSON_ALLOW_NUL, NULL);
	kind = json_string_value(json_object_get(o, "kind"));
	if (!kind) {
		json_decref(o);
		return memory_failures_of_thread() > failures ? -ENOMEM : -EBADMSG;
	}
	json_decref(l->tree);
	l->tree = o;
	l->kind = LINE_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, kind) != 0)
			continue;
		l->kind = kinds[i].kind;
		if (kinds[i].read)
			kinds[i].read(l, o);
	}
	line_refine(l, text, length);
	return memory_failures_of_thread() > failures ? -ENOMEM : 0;
}

int line_read_quick(struct line *l, const char *text, size_t length)
{
	return line_read_plain(l, text, length) ? 0 : line_read(l, text, length);
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
