// SPDX-License-Identifier: BSD-2-Clause
#include "run/reader.h"

#include "base/memory.h"
#include "base/number.h"
#include "run/run.h"
#include "run/exact.h"
#include "run/reader_parts.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOUBLE_IS_EXACT (1ULL << 51) /* below it llround() gives back what was written */

bool value_read_number(const json_t *v, unsigned decimals, uint64_t *n)
{
	uint64_t scaled;

	if (json_is_integer(v))
		return json_integer_value(v) >= 0 &&
		       number_scale((uint64_t)json_integer_value(v), decimals, n);
	if (!json_is_real(v) || !number_round(json_real_value(v) * pow(10, decimals), &scaled) ||
	    (!decimals && scaled > NUMBER_MAX))
		return false;
	*n = scaled;
	return true;
}

uint64_t member_read_number(const json_t *o, const char *key, unsigned decimals)
{
	uint64_t n = 0;

	value_read_number(json_object_get(o, key), decimals, &n);
	return n;
}

uint64_t member_read_epoch(const json_t *o, const char *key)
{
	uint64_t us = member_read_number(o, key, 6);

	return us <= UINT64_MAX / 1000 ? us * 1000 : 0;
}

int32_t value_read_int32(const json_t *v)
{
	double n = json_number_value(v);

	return n >= INT32_MIN && n <= INT32_MAX ? (int32_t)n : 0;
}

uint32_t member_read_uint32(const json_t *o, const char *key)
{
	uint64_t n = member_read_number(o, key, 0);

	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

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

void metrics_read_of(const struct metric_set *set, json_t *o, uint64_t *values,
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

	o = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
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
