// SPDX-License-Identifier: BSD-2-Clause
#include "export/csv.h"

#include "base/memory.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void csv_header(struct buffer *t, const struct metric_set *columns)
{
	buffer_puts(t, "time,elapsed_seconds");
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		buffer_puts(t, ",");
		buffer_puts(t, metric_get((enum metric_id)i)->key);
	}
	buffer_puts(t, "\n");
}

void csv_row(struct buffer *t, const struct metric_set *columns, uint64_t start_epoch_ns,
	     const struct sample *s)
{
	buffer_put_decimal(t, (start_epoch_ns + s->elapsed_ns) / 1000, 6);
	buffer_puts(t, ",");
	buffer_put_decimal(t, s->elapsed_ns, 9);
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (!metric_has(columns, id))
			continue;
		buffer_puts(t, ",");
		if (sample_has(s, id))
			buffer_put_decimal(t, s->value[i], metric_decimals(id));
	}
	buffer_puts(t, "\n");
}

static int csv_export_put_row(void *context, struct line *l)
{
	struct exporter *e = context;

	batch_put_cells(e);
	csv_row(&e->text, &e->batch->have, e->start_epoch_ns, &l->sample);
	return export_flush_full(e);
}

/* Adds a column for each metric of any run. */
static int csv_export_survey(struct exporter *e)
{
	metric_set_join(&e->batch->have, &e->wanted);
	return 0;
}

static int csv_export_write(struct exporter *e)
{
	if (!e->batch->at) {
		batch_put_titles(e->batch, &e->text);
		csv_header(&e->text, &e->batch->have);
	}
	return source_each(e->source, PART(LINE_SAMPLE), csv_export_put_row, e);
}

const struct export_format csv_export = {
	.name = "csv",
	.help = "samples as CSV, as written by -o run.csv",
	.takes_several = true,
	.documents = { { "", csv_export_write, csv_export_survey } },
};

static bool span_field_is_value(const struct member *f)
{
	switch (f->type) {
	case TYPE_NUMBER:
	case TYPE_DERIVED:
	case TYPE_TRUTH:
	case TYPE_TEXT:
	case TYPE_STATUS:
		return f->in == IN_LINE;
	default:
		return false;
	}
}

bool span_has_field(const struct span *s, const struct member *f)
{
	const struct summary *u = &s->used;

	if (!span_field_is_value(f) || !summary_field_is_there(u, f))
		return false;
	return f->type != TYPE_STATUS || member_is_status(u, f);
}

json_t *span_make_tags(const struct span_label *label)
{
	json_t *tags = json_object();

	for (size_t i = 0; tags && i < label->nr_tags; i++) {
		const char *value = strchr(label->tags[i], '=') + 1;
		char *key = memory_strndup(label->tags[i], (size_t)(value - 1 - label->tags[i]));

		if (!key || json_object_set_new(tags, key, json_string(value))) {
			json_decref(tags);
			tags = NULL;
		}
		free(key);
	}
	return tags;
}

/* CSV of spans: a row per span, a column for each value that any span has. */

static int spans_csv_find_columns(void *context, struct line *l)
{
	struct exporter *e = context;
	struct export_batch *columns = e->batch;

	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++)
		columns->has_field[i] |= span_has_field(&l->span, summary_field_get(i));
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(&l->span.used.total, (enum metric_id)i))
			metric_put(&columns->have, (enum metric_id)i);
	return 0;
}

/* Appends the tags as JSON in one cell, since their keys differ from span to span. */
static void spans_csv_put_tags(struct exporter *e, const struct span_label *label)
{
	json_t *tags = span_make_tags(label);
	char *text = tags ? json_dumps(tags, JSON_COMPACT) : NULL;

	if (text)
		buffer_put_quoted(&e->text, text);
	else
		e->text.failed = true;
	json_decref(tags);
	free(text);
}

static void spans_csv_put_truth(struct buffer *t, bool v)
{
	buffer_puts(t, v ? "true" : "false");
}

static void spans_csv_put_value(struct buffer *t, const struct summary *used,
				const struct member *f)
{
	const void *value = member_get(used, f);

	if (f->type == TYPE_TRUTH)
		spans_csv_put_truth(t, *(const bool *)value);
	else if (f->type == TYPE_TEXT)
		buffer_put_quoted(t, value);
	else if (f->type == TYPE_STATUS)
		buffer_printf(t, "%d", *(const int *)value);
	else
		buffer_put_decimal(t, summary_field_number(used, f), metric_unit_decimals(f->unit));
}

static void spans_csv_put_identity(struct exporter *e, const struct span *s)
{
	struct buffer *t = &e->text;

	buffer_printf(t, "%" PRIu64 ",", s->id);
	if (s->parent)
		buffer_printf(t, "%" PRIu64, s->parent);
	buffer_puts(t, ",");
	buffer_put_quoted(t, s->label.name);
	buffer_puts(t, ",");
	spans_csv_put_tags(e, &s->label);
	buffer_printf(t, ",%d,", s->pid);
	spans_csv_put_truth(t, s->in_place);
	buffer_puts(t, ",");
	buffer_put_decimal(t, s->start_epoch_ns / 1000, 6);
	buffer_puts(t, ",");
	if (s->end_epoch_ns)
		buffer_put_decimal(t, s->end_epoch_ns / 1000, 6);
}

static int spans_csv_put_row(void *context, struct line *l)
{
	struct exporter *e = context;
	const struct export_batch *columns = e->batch;
	const struct summary *used = &l->span.used;

	batch_put_cells(e);
	spans_csv_put_identity(e, &l->span);
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++) {
		if (!columns->has_field[i])
			continue;
		buffer_puts(&e->text, ",");
		if (span_has_field(&l->span, summary_field_get(i)))
			spans_csv_put_value(&e->text, used, summary_field_get(i));
	}
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (!metric_has(&columns->have, id))
			continue;
		buffer_puts(&e->text, ",");
		if (sample_has(&used->total, id))
			buffer_put_decimal(&e->text, used->total.value[i], metric_decimals(id));
	}
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

static void spans_csv_put_header(struct exporter *e)
{
	const struct export_batch *columns = e->batch;

	batch_put_titles(columns, &e->text);
	buffer_puts(&e->text, "id,parent,name,tags,pid,in_place,start_time,end_time");
	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++)
		if (columns->has_field[i])
			buffer_printf(&e->text, ",%s", summary_field_get(i)->key);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&columns->have, (enum metric_id)i))
			buffer_printf(&e->text, ",%s", metric_get((enum metric_id)i)->key);
	buffer_puts(&e->text, "\n");
}

static int spans_csv_survey(struct exporter *e)
{
	return source_each(e->source, PART(LINE_SPAN), spans_csv_find_columns, e);
}

static int spans_csv_write(struct exporter *e)
{
	if (!e->batch->at)
		spans_csv_put_header(e);
	return source_each(e->source, PART(LINE_SPAN), spans_csv_put_row, e);
}

const struct export_format spans_csv_export = {
	.name = "csv-spans",
	.help = "spans as CSV, one per row",
	.takes_several = true,
	.documents = { { "", spans_csv_write, spans_csv_survey } },
};
