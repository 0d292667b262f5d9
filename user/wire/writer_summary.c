// SPDX-License-Identifier: BSD-2-Clause
/* The summary line: the rows of summary.def, each written as its type says. */
#include "model/summary_field.h"
#include "wire/parts.h"
#include "wire/writer.h"

#include <string.h>

static void summary_fields_write(struct json *j, const struct summary *s, enum summary_in in);

static void field_write_number(struct json *j, const struct summary *s,
			       const struct summary_field *f)
{
	jw_decimal(j, f->key, summary_field_number(s, f), metric_unit_decimals(f->unit));
}

static void field_write_truth(struct json *j, const struct summary *s,
			      const struct summary_field *f)
{
	jw_bool(j, f->key, *(const bool *)summary_field_value(s, f));
}

static void field_write_text(struct json *j, const struct summary *s, const struct summary_field *f)
{
	jw_string(j, f->key, summary_field_value(s, f));
}

/* A command ends with an exit code or by a signal: the other is null. */
static void field_write_status(struct json *j, const struct summary *s,
			       const struct summary_field *f)
{
	const int *status = summary_field_value(s, f);

	if (s->has_status && (status == &s->signal) == (s->signal != 0))
		jw_int(j, f->key, *status);
	else
		jw_null(j, f->key);
}

static void field_write_object(struct json *j, const struct summary *s,
			       const struct summary_field *f)
{
	jw_object(j, f->key);
	summary_fields_write(j, s, f->opens);
	jw_object_end(j);
}

static void field_write_losses(struct json *j, const struct summary *s,
			       const struct summary_field *f)
{
	jw_object(j, f->key);
	for (size_t i = 0; i < s->nr_losses; i++)
		jw_uint(j, s->losses[i].name, s->losses[i].count);
	jw_object_end(j);
}

static void field_write_oom(struct json *j, const struct summary *s, const struct summary_field *f)
{
	jw_object(j, f->key);
	oom_write(j, &s->oom);
	jw_object_end(j);
}

static void field_write_counters(struct json *j, const struct summary *s,
				 const struct summary_field *f)
{
	(void)f;
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(&s->total, (enum metric_id)i) &&
		    metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			metric_write(j, (enum metric_id)i, s->total.value[i]);
}

static void field_write_holders(struct json *j, const struct summary *s,
				const struct summary_field *f)
{
	jw_array(j, f->key);
	for (size_t i = 0; i < s->holders.nr; i++) {
		const struct holder *h = &s->holders.largest[i];

		jw_object(j, NULL);
		jw_int(j, "pid", h->pid);
		jw_bytes(j, "comm", h->comm, strlen(h->comm));
		jw_string(j, "exe", h->exe);
		jw_uint(j, "rss_bytes", h->rss_bytes);
		jw_object_end(j);
	}
	jw_array_end(j);
}

static void field_write_others(struct json *j, const struct summary *s,
			       const struct summary_field *f)
{
	jw_object(j, f->key);
	jw_uint(j, "processes", s->holders.others);
	jw_uint(j, "rss_bytes", s->holders.others_bytes);
	jw_object_end(j);
}

static void field_write_programs(struct json *j, const struct summary *s,
				 const struct summary_field *f)
{
	jw_array(j, f->key);
	for (size_t i = 0; i < s->nr_programs; i++) {
		const struct program *p = &s->programs[i];

		jw_object(j, NULL);
		jw_string(j, "exe", p->exe);
		jw_uint(j, "processes", p->processes);
		if (p->has_rss_peak) {
			jw_uint(j, "rss_peak_bytes", p->rss_peak_bytes);
			jw_bool(j, "rss_peak_exact", p->rss_peak_exact);
		}
		metrics_write(j, p->value, &p->have);
		jw_object_end(j);
	}
	jw_array_end(j);
}

typedef void write_fn(struct json *j, const struct summary *s, const struct summary_field *f);

static write_fn *const field_writers[NR_SUMMARY_TYPES] = {
	[TYPE_NUMBER] = field_write_number,     [TYPE_DERIVED] = field_write_number,
	[TYPE_TRUTH] = field_write_truth,       [TYPE_TEXT] = field_write_text,
	[TYPE_STATUS] = field_write_status,     [TYPE_OBJECT] = field_write_object,
	[TYPE_LOSSES] = field_write_losses,     [TYPE_OOM] = field_write_oom,
	[TYPE_COUNTERS] = field_write_counters, [TYPE_HOLDERS] = field_write_holders,
	[TYPE_OTHERS] = field_write_others,     [TYPE_PROGRAMS] = field_write_programs,
};

static void summary_fields_write(struct json *j, const struct summary *s, enum summary_in in)
{
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++) {
		const struct summary_field *f = summary_field_get(i);

		if (f->in == in && summary_field_is_there(s, f))
			field_writers[f->type](j, s, f);
	}
}

void write_summary(struct json *j, const struct summary *s)
{
	jw_object(j, NULL);
	jw_string(j, "kind", "summary");
	summary_fields_write(j, s, IN_LINE);
	line_end(j);
}
