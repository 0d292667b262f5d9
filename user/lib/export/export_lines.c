// SPDX-License-Identifier: BSD-2-Clause
/* JSON Lines and CSV, as bpfmon writes them. */
#include "export/export.h"

#include "run/csv.h"
#include "run/rewriter.h"
#include "run/writer.h"

static int jsonl_export_put_line(void *context, struct line *l)
{
	struct exporter *e = context;

	jsonw_reset(&e->json);
	rewrite_line(&e->json, l);
	buffer_put(&e->text, e->json.text, e->json.used);
	return export_flush_full(e);
}

/* A run that was cut off gets a summary, the one that readers compute from its lines. */
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

static int csv_export_put_row(void *context, struct line *l)
{
	struct exporter *e = context;

	batch_put_cells(e);
	csv_row(&e->text, &e->batch->have, e->start_epoch_ns, &l->sample);
	return export_flush_full(e);
}

/* A column for each metric that any of the runs has. */
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

const struct export_format jsonl_export = {
	.name = "jsonl",
	.help = "JSON Lines, as -o run.jsonl writes them",
	.takes_several = true,
	.documents = { { "", jsonl_export_write, NULL } },
};

const struct export_format csv_export = {
	.name = "csv",
	.help = "the samples, as -o run.csv writes them",
	.takes_several = true,
	.documents = { { "", csv_export_write, csv_export_survey } },
};
