// SPDX-License-Identifier: BSD-2-Clause
/* Exports InfluxDB's line protocol. */
#include "export/export.h"

#include "base/memory.h"
#include "export/csv.h"
#include "export/influx_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Appends points to the text of an exporter whose state is a struct influx. */

struct influx {
	struct influx_tags tags;
	struct influx_times times; /* for all points except samples, whose times already have ns */
};

#define LATEST 9223372036.0 /* s since 1970; last whole second whose ns fit into 63 bits */

/* Appends the separator of fields and a key. */
static void influx_begin_field(struct exporter *e, bool *is_first, const char *key)
{
	buffer_puts(&e->text, *is_first ? " " : ",");
	*is_first = false;
	influx_put_key(&e->text, key);
	buffer_puts(&e->text, "=");
}

/* Appends a field of value @v / 10^@decimals; an integer if @decimals is 0. */
static void influx_put_decimal(struct exporter *e, bool *is_first, const char *key, uint64_t v,
			       unsigned decimals)
{
	if (!decimals && v > INT64_MAX) /* InfluxDB's integers are signed */
		return;
	influx_begin_field(e, is_first, key);
	buffer_put_decimal(&e->text, v, decimals);
	if (!decimals)
		buffer_puts(&e->text, "i");
}

static void influx_put_metrics(struct exporter *e, bool *is_first, const uint64_t *value,
			       const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			influx_put_decimal(e, is_first, metric_get((enum metric_id)i)->key,
					   value[i], metric_decimals((enum metric_id)i));
}

/* Appends a measurement and all tags. */
static void influx_begin_point(struct exporter *e, enum influx_measurement m)
{
	const struct influx *x = e->state;

	buffer_puts(&e->text, influx_measurement_name(m));
	buffer_put(&e->text, x->tags.text.text, x->tags.text.used);
}

/* Ends a point. Returns 0 or an error of export_flush_full(). */
static int influx_end_point(struct exporter *e, uint64_t epoch_ns)
{
	buffer_puts(&e->text, " ");
	buffer_put_decimal(&e->text, epoch_ns < INFLUX_LAST_NS ? epoch_ns : INFLUX_LAST_NS, 0);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

/* Ends a point at a time that no other point has. Returns -EOVERFLOW if none is left. */
static int influx_end_point_near(struct exporter *e, uint64_t epoch_ns)
{
	struct influx *x = e->state;
	uint64_t at_ns = influx_times_next(&x->times, epoch_ns);

	return at_ns ? influx_end_point(e, at_ns) : -EOVERFLOW;
}

/* Returns the end of the run, used as the time of what had not ended then. */
static uint64_t influx_run_end(const struct exporter *e)
{
	return e->start_epoch_ns + e->total.wall_ns / 1000 * 1000;
}

/* Spans as points, with the tags of the run, the name, and the tags of the span. */

struct span_point {
	struct exporter *e;
	bool is_first;
};

/* Returns a name for the field @key that is no tag, to be freed; NULL if memory runs out. */
static char *influx_span_key(struct span_point *p, const char *key)
{
	struct influx *x = p->e->state;
	char *name = influx_field_name(&x->tags, key, NULL);

	p->e->text.failed |= !name;
	return name;
}

static void influx_span_put_number(struct span_point *p, const char *key, uint64_t v,
				   unsigned decimals)
{
	char *name = influx_span_key(p, key);

	if (name)
		influx_put_decimal(p->e, &p->is_first, name, v, decimals);
	free(name);
}

static void influx_span_put_truth(struct span_point *p, const char *key, bool v)
{
	char *name = influx_span_key(p, key);

	if (name) {
		influx_begin_field(p->e, &p->is_first, name);
		buffer_puts(&p->e->text, v ? "true" : "false");
	}
	free(name);
}

static void influx_span_put_text(struct span_point *p, const char *key, const char *v)
{
	char *name = influx_span_key(p, key);

	if (name) {
		influx_begin_field(p->e, &p->is_first, name);
		influx_put_string(&p->e->text, v, strlen(v));
	}
	free(name);
}

static void influx_span_put_field(struct span_point *p, const struct summary *used,
				  const struct member *f)
{
	const void *value = member_get(used, f);

	if (f->type == TYPE_TRUTH)
		influx_span_put_truth(p, f->key, *(const bool *)value);
	else if (f->type == TYPE_TEXT)
		influx_span_put_text(p, f->key, value);
	else if (f->type == TYPE_STATUS)
		influx_span_put_number(p, f->key, (uint64_t)(*(const int *)value), 0);
	else
		influx_span_put_number(p, f->key, summary_field_number(used, f),
				       metric_unit_decimals(f->unit));
}

static void influx_span_put_used(struct span_point *p, const struct span *s)
{
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++)
		if (span_has_field(s, summary_field_get(i)))
			influx_span_put_field(p, &s->used, summary_field_get(i));
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (sample_has(&s->used.total, id))
			influx_span_put_number(p, metric_get(id)->key, s->used.total.value[i],
					       metric_decimals(id));
	}
}

static void influx_span_put_identity(struct span_point *p, const struct span *s)
{
	influx_span_put_number(p, "span", s->id, 0);
	if (s->parent)
		influx_span_put_number(p, "parent_span", s->parent, 0);
	influx_span_put_number(p, "pid", (uint64_t)s->pid, 0);
	influx_span_put_number(p, "start_time", s->start_epoch_ns / 1000, 6);
	influx_span_put_truth(p, "in_place", s->in_place);
	influx_span_put_truth(p, "open", !s->end_epoch_ns);
}

/* Begins a span's point. span_name groups series across runs: a span's own such tag is renamed. */
static void influx_span_begin(struct exporter *e, const struct span *s)
{
	struct influx *x = e->state;
	json_t *tags = span_make_tags(&s->label), *name = json_object(), *own;

	own = json_object_get(tags, "span_name");
	if (!tags || !name || json_object_set_new(name, "span_name", json_string(s->label.name)) ||
	    (own && json_object_set(tags, "tag_span_name", own)))
		e->text.failed = true;
	json_object_del(tags, "span_name");
	influx_tags_push(&x->tags, name);
	influx_tags_push(&x->tags, tags);
	json_decref(tags);
	json_decref(name);
	e->text.failed |= x->tags.text.failed;
	influx_begin_point(e, INFLUX_SPAN);
}

/* Appends the point of a span, at its end. Returns 0 or an error of influx_end_point_near(). */
static int influx_put_span(struct exporter *e, const struct span *s)
{
	struct span_point p = { e, true };
	struct influx *x = e->state;

	influx_span_begin(e, s);
	influx_span_put_identity(&p, s);
	influx_span_put_used(&p, s);
	influx_tags_pop(&x->tags);
	/* an open span has the values at the end of the run */
	return influx_end_point_near(e, s->end_epoch_ns ? s->end_epoch_ns : influx_run_end(e));
}

/*
 * Appends the point of an instance. The tag of its dimension is renamed if the run has that name.
 */
static int influx_put_instance(struct exporter *e, const struct sample *s, const struct instance *i)
{
	struct influx *x = e->state;
	size_t start = e->text.used;
	bool is_first = true;

	if (!strcmp(i->dimension, SPAN_DIMENSION))
		return 0;
	influx_tags_push_one(&x->tags, i->dimension, i->name);
	e->text.failed |= x->tags.text.failed;
	influx_begin_point(e, INFLUX_INSTANCE);
	influx_tags_pop(&x->tags);
	influx_put_metrics(e, &is_first, i->value, &i->have);
	if (!is_first)
		return influx_end_point(e, e->start_epoch_ns + s->elapsed_ns);
	e->text.used = start;
	return 0;
}

static int influx_put_sample(struct exporter *e, const struct sample *s)
{
	bool is_first = true;
	int err;

	influx_begin_point(e, INFLUX_SAMPLE);
	influx_put_decimal(e, &is_first, "elapsed_seconds", s->elapsed_ns, 9);
	influx_put_metrics(e, &is_first, s->value, &s->have);
	err = influx_end_point(e, e->start_epoch_ns + s->elapsed_ns);
	for (size_t i = 0; !err && i < s->nr_instances; i++)
		err = influx_put_instance(e, s, &s->instances[i]);
	return err;
}

static int influx_put_process(struct exporter *e, const struct process *p)
{
	uint64_t at_ns = p->end_epoch_ns ? p->end_epoch_ns : p->left_epoch_ns;
	bool is_first = true;

	influx_begin_point(e, INFLUX_PROCESS);
	influx_put_tag(&e->text, "comm", p->comm, strlen(p->comm));
	if (p->exe)
		influx_put_tag(&e->text, "exe", p->exe, strlen(p->exe));
	influx_begin_field(e, &is_first, "pid");
	buffer_printf(&e->text, "%di", p->pid);
	influx_begin_field(e, &is_first, "ppid");
	buffer_printf(&e->text, "%di", p->ppid);
	influx_put_decimal(e, &is_first, "uid", p->uid, 0);
	if (p->span)
		influx_put_decimal(e, &is_first, "span", p->span, 0);
	influx_put_decimal(e, &is_first, "start_time", p->start_epoch_ns / 1000, 6);
	influx_begin_field(e, &is_first, "alive");
	buffer_puts(&e->text, p->has_ended ? "false" : "true");
	if (p->has_ended && !p->signal) {
		influx_begin_field(e, &is_first, "exit_code");
		buffer_printf(&e->text, "%di", p->exit_code);
	} else if (p->has_ended) {
		influx_begin_field(e, &is_first, "signal");
		buffer_printf(&e->text, "%di", p->signal);
	}
	influx_put_decimal(e, &is_first, "threads_total", p->threads_total, 0);
	influx_put_decimal(e, &is_first, "execs", p->execs, 0);
	if (p->has_rss_peak) {
		influx_put_decimal(e, &is_first, "rss_peak_bytes", p->rss_peak_bytes, 0);
		influx_begin_field(e, &is_first, "rss_peak_exact");
		buffer_puts(&e->text, p->rss_peak_exact ? "true" : "false");
	}
	influx_put_metrics(e, &is_first, p->value, &p->have);
	if (!at_ns) /* alive: these are the values at the end of the run */
		at_ns = influx_run_end(e);
	return influx_end_point_near(e, at_ns);
}

/* The first value of a field fixes its type: seconds are decimals, even whole ones. */
static bool influx_is_decimal(const char *key, const json_t *v)
{
	static const char suffix[] = "_seconds";
	size_t n = strlen(key), length = sizeof(suffix) - 1;

	return json_is_real(v) || (n > length && !strcmp(key + n - length, suffix));
}

static void influx_put_member(struct exporter *e, bool *is_first, const char *key, const json_t *v)
{
	if (json_is_integer(v) && !influx_is_decimal(key, v)) {
		influx_begin_field(e, is_first, key);
		buffer_printf(&e->text, "%" JSON_INTEGER_FORMAT "i", json_integer_value(v));
	} else if (json_is_number(v)) {
		influx_begin_field(e, is_first, key);
		jsonw_reset(&e->json);
		jsonw_double(&e->json, NULL, json_number_value(v));
		buffer_put(&e->text, e->json.text, e->json.used);
	} else if (json_is_string(v)) {
		influx_begin_field(e, is_first, key);
		influx_put_string(&e->text, json_string_value(v), json_string_length(v));
	} else if (json_is_boolean(v)) {
		influx_begin_field(e, is_first, key);
		buffer_puts(&e->text, json_is_true(v) ? "true" : "false");
	}
}

static void influx_put_named(struct exporter *e, bool *is_first, const char *key, const json_t *v,
			     const json_t *fields,
			     void (*put)(struct exporter *e, bool *is_first, const char *key,
					 const json_t *v))
{
	struct influx *x = e->state;
	char *name;

	if (!*key) /* databases reject a field without a name */
		return;
	name = influx_field_name(&x->tags, key, fields);
	if (name)
		put(e, is_first, name, v);
	else
		e->text.failed = true;
	free(name);
}

static bool influx_is_special(const char *key)
{
	return !strcmp(key, "kind") || !strcmp(key, "time") || !strcmp(key, "event") ||
	       !strcmp(key, "elapsed_seconds");
}

/* Converts with a resolution of 1 us, which is that of a double with seconds since 1970. */
static uint64_t seconds_to_ns(double seconds)
{
	return (uint64_t)(fmin(fmax(0, seconds), LATEST) * 1e6 + 0.5) * 1000;
}

static int influx_put_event(struct exporter *e, json_t *event)
{
	const json_t *name = json_object_get(event, "event");
	double epoch = json_number_value(json_object_get(event, "time"));
	uint64_t at_ns = epoch > 0 ? seconds_to_ns(epoch) : e->start_epoch_ns;
	bool is_first = true;
	const char *key;
	json_t *v;

	influx_begin_point(e, INFLUX_EVENT);
	if (json_is_string(name))
		influx_put_tag(&e->text, "event", json_string_value(name),
			       json_string_length(name));
	influx_put_decimal(e, &is_first, "elapsed_seconds",
			   at_ns > e->start_epoch_ns ? at_ns - e->start_epoch_ns : 0, 9);
	json_object_foreach(event, key, v)
		if (!influx_is_special(key))
			influx_put_named(e, &is_first, key, v, event, influx_put_member);
	return influx_end_point_near(e, at_ns);
}

/* Writes all numbers as decimals, since the line does not record whether an integer was pushed. */
static void influx_put_pushed_field(struct exporter *e, bool *is_first, const char *key,
				    const json_t *v)
{
	if (json_is_null(v))
		return;
	if (!json_is_integer(v)) {
		influx_put_member(e, is_first, key, v);
		return;
	}
	influx_begin_field(e, is_first, key);
	buffer_printf(&e->text, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
}

/* Returns the time that the program reported, else the time of sending. */
static uint64_t influx_pushed_ns(const struct exporter *e, const json_t *metric)
{
	const json_t *reported = json_object_get(metric, "reported_time");
	double elapsed = json_number_value(json_object_get(metric, "elapsed_seconds"));

	if (json_is_number(reported))
		return seconds_to_ns(json_number_value(reported));
	return e->start_epoch_ns + seconds_to_ns(elapsed);
}

static int influx_put_pushed(struct exporter *e, json_t *metric)
{
	const json_t *name = json_object_get(metric, "name");
	json_t *fields = json_object_get(metric, "fields"), *v;
	struct influx *x = e->state;
	size_t start = e->text.used;
	bool is_first = true;
	const char *key;

	if (!json_is_string(name))
		return 0;
	influx_put_pushed_name(&e->text, name);
	influx_tags_push(&x->tags, json_object_get(metric, "tags"));
	buffer_put(&e->text, x->tags.text.text, x->tags.text.used);
	e->text.failed |= x->tags.text.failed;
	json_object_foreach(fields, key, v)
		influx_put_named(e, &is_first, key, v, fields, influx_put_pushed_field);
	influx_tags_pop(&x->tags);
	if (!is_first)
		return influx_end_point_near(e, influx_pushed_ns(e, metric));
	e->text.used = start; /* databases reject a point without a field */
	return 0;
}

static const unsigned influx_parts = PART(LINE_SAMPLE) | PART(LINE_PROCESS) | PART(LINE_EVENT) |
				     PART(LINE_METRIC) | PART(LINE_SPAN);

static int influx_put(struct exporter *e, const struct line *l)
{
	switch (l->kind) {
	case LINE_SAMPLE:
		return influx_put_sample(e, &l->sample);
	case LINE_PROCESS:
		return influx_put_process(e, &l->process);
	case LINE_METRIC:
		return influx_put_pushed(e, l->tree);
	case LINE_SPAN:
		return influx_put_span(e, &l->span);
	default:
		return influx_put_event(e, l->tree);
	}
}

static int influx_put_line(void *context, struct line *l)
{
	return influx_put(context, l);
}

static int influx_write(struct exporter *e)
{
	struct influx x = { 0 };
	int err = influx_times_init(&x.times);

	e->state = &x;
	if (!err)
		err = influx_tags_init(&x.tags, e->meta);
	if (!err)
		err = source_each(e->source, influx_parts, influx_put_line, e);
	influx_tags_done(&x.tags);
	influx_times_done(&x.times);
	return err;
}

struct influx_live {
	struct exporter e;
	struct influx x;
};

struct influx_live *influx_live_new(const struct line *meta, export_fn pass, void *context)
{
	struct influx_live *l = memory_calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->e = (struct exporter){ .start_epoch_ns = meta->start_epoch_ns,
				  .state = &l->x,
				  .pass = pass,
				  .context = context };
	if (!influx_times_init(&l->x.times) && !influx_tags_init(&l->x.tags, meta->tree))
		return l;
	influx_live_free(l);
	return NULL;
}

int influx_live_put(struct influx_live *l, const struct line *line)
{
	if (!(PART(line->kind) & influx_parts))
		return 0;
	if (line->kind == LINE_SAMPLE) /* the end of what is still open, such as a span */
		l->e.total.wall_ns = line->sample.elapsed_ns;
	return influx_put(&l->e, line);
}

int influx_live_flush(struct influx_live *l)
{
	return export_flush(&l->e);
}

void influx_live_free(struct influx_live *l)
{
	if (!l)
		return;
	influx_tags_done(&l->x.tags);
	influx_times_done(&l->x.times);
	export_close(&l->e);
	free(l);
}

const struct export_format influx_export = {
	.name = "influx",
	.takes_several = true,
	.help = "InfluxDB line protocol: samples, processes, spans, events, pushed metrics",
	.documents = { { "", influx_write, NULL } },
};
