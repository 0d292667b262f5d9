// SPDX-License-Identifier: BSD-2-Clause
#include "export/batch.h"

#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether the run is new. A run without a UUID, of another program, always is. */
static int batch_note_run(struct export_batch *b, const struct exporter *e)
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
		err = batch_note_run(b, &e);
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
		buffer_put_inert(&inert, text, strlen(text));
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
