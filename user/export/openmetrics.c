// SPDX-License-Identifier: BSD-2-Clause
/*
 * OpenMetrics, with a time for each sample. The format has all samples of a metric together, so
 * they are kept in a file without a name, which is read once per metric.
 */
#include "export/export.h"

#include "base/cleanup.h"
#include "wire/openmetrics.h"

#include <errno.h>
#include <string.h>

/* Prometheus keeps milliseconds, and accepts one value for each. */
#define APART_NS 2000000

struct row {
	uint64_t elapsed_ns;
	struct metric_set have;
	uint64_t value[NR_METRICS];
};

struct rows {
	FILE *file; /* owned */
	struct metric_set have;
	struct buffer labels; /* owned */
};

static int openmetrics_keep_sample(void *context, struct line *l)
{
	struct exporter *e = context;
	struct rows *r = e->state;
	struct row row = { .elapsed_ns = l->sample.elapsed_ns, .have = l->sample.have };

	memcpy(row.value, l->sample.value, sizeof(row.value));
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(&row.have, (enum metric_id)i))
			metric_put(&r->have, (enum metric_id)i);
	return fwrite(&row, sizeof(row), 1, r->file) == 1 ? 0 : -errno;
}

static void openmetrics_put_labels(struct buffer *t, const struct exporter *e)
{
	static const char *const labels[] = { "run", "name", "host", "job" };

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		const char *value = export_meta_text(e, labels[i]);

		if (value)
			openmetrics_put_label(t, labels[i], value);
	}
	if (t->used)
		buffer_puts(t, "}");
}

static struct family openmetrics_family(enum metric_id id)
{
	const struct metric *m = metric_get(id);

	return (struct family){ "bpfmon_", m->key, m->help, NULL, m->kind, m->unit };
}

static int openmetrics_put_value(struct exporter *e, const struct row *row, enum metric_id id)
{
	const struct family f = openmetrics_family(id);
	const struct rows *r = e->state;

	openmetrics_put_name(&e->text, &f);
	buffer_put(&e->text, r->labels.text, r->labels.used);
	buffer_puts(&e->text, " ");
	buffer_put_decimal(&e->text, row->value[id], metric_decimals(id));
	buffer_puts(&e->text, " ");
	buffer_put_decimal(&e->text, (e->start_epoch_ns + row->elapsed_ns) / 1000000, 3);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

/* Of values that are too close in time one is written: the last of a counter, the first of a gauge.
 */
static int openmetrics_put_values(struct exporter *e, enum metric_id id)
{
	const struct rows *r = e->state;
	struct row row, last = { 0 };
	bool has_last = false;
	int err = 0;

	rewind(r->file);
	while (!err && fread(&row, sizeof(row), 1, r->file) == 1) {
		if (!metric_has(&row.have, id))
			continue;
		if (has_last && row.elapsed_ns - last.elapsed_ns >= APART_NS)
			err = openmetrics_put_value(e, &last, id);
		else if (has_last && metric_get(id)->kind == KIND_GAUGE)
			continue;
		last = row;
		has_last = true;
	}
	if (!err && ferror(r->file))
		err = -EIO;
	if (!err && has_last)
		err = openmetrics_put_value(e, &last, id);
	return err;
}

static int openmetrics_put_metric(struct exporter *e, enum metric_id id)
{
	const struct family f = openmetrics_family(id);

	openmetrics_put_family(&e->text, &f, EXPOSITION_OPENMETRICS);
	return openmetrics_put_values(e, id);
}

static int openmetrics_put_families(struct exporter *e, struct rows *r)
{
	int err = source_each(e->source, PART(LINE_SAMPLE), openmetrics_keep_sample, e);

	if (!err && fflush(r->file))
		err = -errno;
	for (int i = 0; !err && i < NR_METRICS; i++)
		if (metric_has(&r->have, (enum metric_id)i))
			err = openmetrics_put_metric(e, (enum metric_id)i);
	buffer_puts(&e->text, "# EOF\n");
	return err;
}

static int openmetrics_write(struct exporter *e)
{
	__cleanup(fclosep) FILE *file = tmpfile();
	struct rows r = { .file = file };
	int err;

	if (!file)
		return -errno;
	e->state = &r;
	openmetrics_put_labels(&r.labels, e);
	err = r.labels.failed ? -ENOMEM : openmetrics_put_families(e, &r);
	buffer_done(&r.labels);
	return err;
}

const struct export_format openmetrics_export = {
	.name = "openmetrics",
	.help = "OpenMetrics, to be imported into Prometheus",
	.documents = { { "", openmetrics_write } },
};
