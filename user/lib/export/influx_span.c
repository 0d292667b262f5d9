// SPDX-License-Identifier: BSD-2-Clause
/* Spans as points: the tags are the run's, the name, and the span's own. */
#include "export/influx_point.h"

#include "export/influx_text.h"
#include "export/span_fields.h"

#include <stdlib.h>
#include <string.h>

struct span_point {
	struct exporter *e;
	bool is_first;
};

/* The name of the field @key, which no tag of the point has; to be freed, NULL without memory. */
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
				  const struct summary_field *f)
{
	const void *value = summary_field_value(used, f);

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

/* The name is the tag that series of all runs are grouped by: a span's own tags give way to it. */
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
	influx_begin_point(e, "bpfmon_span");
}

int influx_put_span(struct exporter *e, const struct span *s)
{
	struct span_point p = { e, true };
	struct influx *x = e->state;

	influx_span_begin(e, s);
	influx_span_put_identity(&p, s);
	influx_span_put_used(&p, s);
	influx_tags_pop(&x->tags);
	/* open: these are its values at the end of the run */
	return influx_end_point_near(e, s->end_epoch_ns ? s->end_epoch_ns : influx_run_end(e));
}
