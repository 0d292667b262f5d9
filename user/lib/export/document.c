// SPDX-License-Identifier: BSD-2-Clause
/* Exports the lines of a run as JSON Lines, or as one JSON document, grouped by kind. */
#include "export/export.h"

#include "run/rewriter.h"
#include "run/writer.h"

/* Appends the object of e->json without its newline; the caller adds separators. */
static void document_put_object(struct exporter *e)
{
	if (e->json.used)
		buffer_put(&e->text, e->json.text, e->json.used - 1);
}

static int document_put_element(void *context, struct line *l)
{
	struct exporter *e = context;
	bool *is_first = e->state;

	jsonw_reset(&e->json);
	rewrite_line(&e->json, l);
	if (!e->json.used)
		return 0;
	buffer_puts(&e->text, *is_first ? "\n" : ",\n");
	*is_first = false;
	document_put_object(e);
	return export_flush_full(e);
}

static int document_put_list(struct exporter *e, const char *name, enum line_kind kind)
{
	bool is_first = true;
	int err;

	e->state = &is_first;
	buffer_printf(&e->text, ",\n\"%s\":[", name);
	err = source_each(e->source, PART(kind), document_put_element, e);
	buffer_puts(&e->text, "]");
	return err;
}

static int document_put_only(void *context, struct line *l)
{
	struct exporter *e = context;

	jsonw_reset(&e->json);
	rewrite_line(&e->json, l);
	document_put_object(e);
	return 0;
}

/* Keeps the last summary, as all readers do if another program wrote several. */
static int document_put_last(void *context, struct line *l)
{
	struct exporter *e = context;
	const size_t *start = e->state;

	e->text.used = *start;
	return document_put_only(e, l);
}

static int document_put_summary(struct exporter *e)
{
	size_t start;

	buffer_puts(&e->text, ",\n\"summary\":");
	start = e->text.used;
	e->state = &start;
	if (!e->is_folded)
		return source_each(e->source, PART(LINE_SUMMARY), document_put_last, e);
	jsonw_reset(&e->json);
	write_summary(&e->json, &e->total);
	document_put_object(e);
	return 0;
}

/* Writes a run; several runs become a list of documents. */
static int document_write(struct exporter *e)
{
	const struct export_batch *b = e->batch;
	int err;

	if (b->is_many)
		buffer_puts(&e->text, b->at ? ",\n" : "[\n");
	buffer_puts(&e->text, "{\"meta\":");
	err = source_each(e->source, PART(LINE_META), document_put_only, e);
	if (!err)
		err = document_put_list(e, "samples", LINE_SAMPLE);
	if (!err)
		err = document_put_list(e, "processes", LINE_PROCESS);
	if (!err)
		err = document_put_list(e, "process_samples", LINE_PROCESS_SAMPLE);
	if (!err)
		err = document_put_list(e, "spans", LINE_SPAN);
	if (!err)
		err = document_put_list(e, "events", LINE_EVENT);
	if (!err)
		err = document_put_list(e, "metrics", LINE_METRIC);
	if (!err)
		err = document_put_list(e, "others", LINE_OTHER);
	if (!err)
		err = document_put_summary(e);
	buffer_puts(&e->text, !b->is_many ? "}\n" : batch_is_last(b) ? "}\n]\n" : "}");
	return err;
}

const struct export_format document_export = {
	.name = "json",
	.help = "one JSON document: meta, samples, processes, spans, events, metrics, summary",
	.takes_several = true,
	.documents = { { "", document_write, NULL } },
};

static int jsonl_export_put_line(void *context, struct line *l)
{
	struct exporter *e = context;

	jsonw_reset(&e->json);
	rewrite_line(&e->json, l);
	buffer_put(&e->text, e->json.text, e->json.used);
	return export_flush_full(e);
}

/* Writes all lines. A truncated run gets the summary that readers compute from its lines. */
static int jsonl_export_write(struct exporter *e)
{
	int err = source_each(e->source, PARTS_ALL, jsonl_export_put_line, e);

	if (!err && e->is_folded) {
		jsonw_reset(&e->json);
		write_summary(&e->json, &e->total);
		buffer_put(&e->text, e->json.text, e->json.used);
	}
	return err;
}

const struct export_format jsonl_export = {
	.name = "jsonl",
	.help = "JSON Lines, as written by -o run.jsonl",
	.takes_several = true,
	.documents = { { "", jsonl_export_write, NULL } },
};
