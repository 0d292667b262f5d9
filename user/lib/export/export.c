// SPDX-License-Identifier: BSD-2-Clause
#include "export/export.h"

#include "run/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PASS_BYTES (64UL << 10)

static const struct export_format *const formats[] = {
	&jsonl_export,          &csv_export,      &spans_csv_export,
	&document_export,       &influx_export,   &openmetrics_export,
	&prmon_export,          &gnu_time_export, &psrecord_export,
	&psrecord_plain_export, &rmonitor_export, &snakemake_export,
	&nextflow_export,
};

const struct export_format *export_at(size_t i)
{
	return i < sizeof(formats) / sizeof(*formats) ? formats[i] : NULL;
}

const struct export_format *export_find(const char *name)
{
	const struct export_format *f;

	for (size_t i = 0; (f = export_at(i)); i++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static int export_take_meta(void *context, struct line *l)
{
	struct exporter *e = context;

	e->meta = json_incref(l->tree);
	e->start_epoch_ns = l->start_epoch_ns;
	e->wanted = l->wanted;
	return 1;
}

/* Reads only the meta line. Returns 0 or an error of export_open(). */
static int export_read_meta(struct exporter *e)
{
	int err = source_each(e->source, PART(LINE_META), export_take_meta, e);

	return err < 0 ? err : 0;
}

int export_open(struct exporter *e, struct source *s)
{
	int err;

	*e = (struct exporter){ .source = s };
	err = export_read_meta(e);
	if (!err)
		err = source_summary(s, &e->total, &e->is_folded);
	return err;
}

void export_close(struct exporter *e)
{
	json_decref(e->meta);
	summary_done(&e->total);
	buffer_done(&e->text);
	jsonw_done(&e->json);
	*e = (struct exporter){ 0 };
}

int export_flush(struct exporter *e)
{
	int err;

	if (e->text.failed || e->json.failed)
		return -ENOMEM;
	if (!e->text.used)
		return 0;
	err = e->pass(e->context, e->text.text, e->text.used);
	e->text.used = 0;
	e->is_refused = err != 0;
	return err;
}

int export_flush_full(struct exporter *e)
{
	return e->text.used >= PASS_BYTES || e->text.failed || e->json.failed ? export_flush(e) : 0;
}

static int export_write_batch(struct exporter *e, const struct export_document *d, export_fn pass,
			      void *context)
{
	int err;

	e->pass = pass;
	e->context = context;
	e->is_refused = false;
	e->text.used = 0;
	err = d->write(e);
	if (!err)
		err = export_flush(e);
	if (e->source->unreadable > e->unreadable)
		e->unreadable = e->source->unreadable;
	return err;
}

int export_write(struct exporter *e, const struct export_document *d, export_fn pass, void *context)
{
	struct export_batch only = { .nr = 1 };
	int err;

	if (e->batch)
		return export_write_batch(e, d, pass, context);
	e->batch = &only;
	err = d->survey ? d->survey(e) : 0;
	if (!err)
		err = export_write_batch(e, d, pass, context);
	e->batch = NULL;
	export_batch_done(&only);
	return err;
}

const char *export_meta_text(const struct exporter *e, const char *key)
{
	const char *text = json_string_value(json_object_get(e->meta, key));

	return text && *text ? text : NULL;
}

uint64_t export_system_number(const struct exporter *e, const char *key)
{
	const json_t *v = json_object_get(json_object_get(e->meta, "system"), key);

	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : 0;
}

const char *export_version(const struct exporter *e, char *out, size_t size)
{
	const char *version = export_meta_text(e, "version");

	snprintf(out, size, "bpfmon %s", version ? version : "of unknown version");
	return out;
}

bool export_command(const struct exporter *e, struct buffer *t)
{
	return tree_put_words(t, json_object_get(e->meta, "command"));
}

/* Returns 0, -EEXIST if the batch has the run, or -ENOMEM. A run without a UUID is always new. */
static int batch_add_run_id(struct export_batch *b, const struct exporter *e)
{
	const char *run = export_meta_text(e, "run");

	if (!run)
		return 0;
	if (!b->seen && !(b->seen = json_object()))
		return -ENOMEM;
	if (json_object_get(b->seen, run))
		return -EEXIST;
	return json_object_set_new(b->seen, run, json_true()) ? -ENOMEM : 0;
}

int export_batch_add(struct export_batch *b, const struct export_format *f, struct source *s)
{
	struct exporter e = { .source = s, .batch = b };
	int err = export_read_meta(&e);

	if (!err)
		err = batch_add_run_id(b, &e);
	for (size_t i = 0; !err && i < EXPORT_DOCUMENTS; i++)
		if (f->documents[i].survey)
			err = f->documents[i].survey(&e);
	if (!err)
		b->nr++;
	export_close(&e);
	return err;
}

void export_batch_done(struct export_batch *b)
{
	json_decref(b->seen);
	if (b->kept)
		fclose(b->kept);
	for (size_t i = 0; i < b->nr_series; i++)
		buffer_done(&b->series[i].labels);
	free(b->series);
	buffer_done(&b->text);
	*b = (struct export_batch){ 0 };
}

void batch_put_titles(const struct export_batch *b, struct buffer *t)
{
	if (b->is_many)
		buffer_puts(t, "run,run_name,");
}

static void batch_put_cell(struct buffer *t, const char *text)
{
	struct buffer inert = { 0 };

	if (text) {
		buffer_put_printable(&inert, text, strlen(text));
		buffer_put(&inert, "", 1);
		t->failed |= inert.failed;
	}
	if (inert.text)
		buffer_put_quoted(t, inert.text);
	buffer_puts(t, ",");
	buffer_done(&inert);
}

void batch_put_cells(struct exporter *e)
{
	if (!e->batch->is_many)
		return;
	batch_put_cell(&e->text, export_meta_text(e, "run"));
	batch_put_cell(&e->text, export_meta_text(e, "name"));
}

bool batch_is_last(const struct export_batch *b)
{
	return b->at + 1 == b->nr;
}
