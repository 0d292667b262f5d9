// SPDX-License-Identifier: BSD-2-Clause
#include "export/openmetrics.h"

#include "base/memory.h"
#include "export/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void openmetrics_put_escaped(struct buffer *t, const char *s)
{
	bool is_control;

	for (size_t n; *s; s += n) {
		n = buffer_character_bytes(s, strlen(s), &is_control);
		if (*s == '\\' || *s == '"')
			buffer_puts(t, "\\");
		if (*s == '\n')
			buffer_puts(t, "\\n");
		else
			buffer_put_printable(t, s, n);
	}
}

void openmetrics_put_label(struct buffer *t, const char *key, const char *value)
{
	buffer_puts(t, t->used ? "," : "{");
	buffer_puts(t, key);
	buffer_puts(t, "=\"");
	openmetrics_put_escaped(t, value);
	buffer_puts(t, "\"");
}

static const char *family_suffix(const struct family *f)
{
	return f->kind == KIND_COUNTER ? "_total" : "";
}

void openmetrics_put_name(struct buffer *t, const struct family *f)
{
	buffer_puts(t, f->prefix);
	buffer_puts(t, f->key);
	buffer_puts(t, family_suffix(f));
}

void openmetrics_put_family(struct buffer *t, const struct family *f, enum exposition as)
{
	const char *suffix = as == EXPOSITION_PLAIN ? family_suffix(f) : "";
	const char *unit = metric_unit_word(f->unit);

	buffer_printf(t, "# HELP %s%s%s %s%s\n", f->prefix, f->key, suffix, f->help,
		      f->help_end ? f->help_end : "");
	buffer_printf(t, "# TYPE %s%s%s %s\n", f->prefix, f->key, suffix,
		      f->kind == KIND_COUNTER ? "counter" : "gauge");
	if (*unit && as == EXPOSITION_OPENMETRICS)
		buffer_printf(t, "# UNIT %s%s %s\n", f->prefix, f->key, unit);
}

void openmetrics_put_sample(struct buffer *t, const struct family *f, const struct buffer *labels,
			    uint64_t value)
{
	openmetrics_put_name(t, f);
	buffer_put(t, labels->text, labels->used);
	buffer_puts(t, " ");
	buffer_put_decimal(t, value, metric_unit_decimals(f->unit));
	buffer_puts(t, "\n");
}

/*
 * Exports OpenMetrics with a time for each sample. The format needs all samples of a metric
 * together, so a temporary file keeps them, which is read once per metric after the last run.
 */

/* Instances: each is a series with a label for its dimension. */

#define MOST_SERIES 1024 /* the file is read once per metric and series */

/*
 * Returns true if the dimension is valid as a part of names and differs from the labels of a run.
 * Spans are no series: there are many, and each has a line of its own.
 */
static bool dimension_is_usable(const char *dimension)
{
	static const char *const others[] = { SPAN_DIMENSION, "run", "name", "host", "job" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i], dimension))
			return false;
	for (const char *c = dimension; *c; c++)
		if (!islower((unsigned char)*c) &&
		    (c == dimension || !isdigit((unsigned char)*c)) &&
		    (c == dimension || *c != '_'))
			return false;
	return *dimension;
}

static void series_put_labels(struct instance_series *s, const char *labels, size_t bytes)
{
	if (bytes) /* without the closing brace */
		buffer_put(&s->labels, labels, bytes - 1);
	openmetrics_put_label(&s->labels, s->dimension, s->name);
	buffer_puts(&s->labels, "}");
}

/*
 * Returns the series of @i in the current run of @b, adding it if new. Its labels are those of the
 * run, @labels of @bytes, and its dimension. Returns NULL if the format does not allow the name,
 * there are too many, or memory runs out, which sets b->text.failed.
 */
static struct instance_series *series_get(struct export_batch *b, const struct instance *i,
					  const char *labels, size_t bytes)
{
	struct instance_series *s;

	for (size_t n = 0; n < b->nr_series; n++) {
		s = &b->series[n];
		if (s->run == b->at && !strcmp(s->dimension, i->dimension) &&
		    !strcmp(s->name, i->name))
			return s;
	}
	if (b->nr_series == MOST_SERIES || !dimension_is_usable(i->dimension))
		return NULL;
	s = memory_reallocarray(b->series, b->nr_series + 1, sizeof(*s));
	if (!s) {
		b->text.failed = true;
		return NULL;
	}
	b->series = s;
	s = &s[b->nr_series++];
	*s = (struct instance_series){ .run = b->at };
	memcpy(s->dimension, i->dimension, sizeof(s->dimension));
	memcpy(s->name, i->name, sizeof(s->name));
	series_put_labels(s, labels, bytes);
	b->text.failed |= s->labels.failed;
	return s;
}

/* Returns true for the first series of its dimension. */
static bool series_is_first(const struct export_batch *b, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(b->series[i].dimension, b->series[at].dimension))
			return false;
	return true;
}

/* Prometheus has a resolution of 1 ms and accepts one value for each. */
#define APART_NS 2000000

struct row {
	uint64_t run;                   /* index of the run */
	uint64_t series;                /* series of an instance + 1; 0: the run itself */
	size_t labels_at, labels_bytes; /* labels of the run, in the batch's text */
	uint64_t epoch_ns;
	struct metric_set have;
	uint64_t value[NR_METRICS];
};

static int openmetrics_keep_row(struct export_batch *b, const struct row *row)
{
	return fwrite(row, sizeof(*row), 1, b->kept) == 1 ? 0 : -errno;
}

static int openmetrics_keep_instance(struct exporter *e, struct row *row, const struct instance *i)
{
	struct export_batch *b = e->batch;
	const char *labels = b->text.text ? b->text.text + row->labels_at : "";
	struct instance_series *s = series_get(b, i, labels, row->labels_bytes);

	if (!s)
		return b->text.failed ? -ENOMEM : 0;
	row->series = (uint64_t)(s - b->series) + 1;
	row->have = i->have;
	memcpy(row->value, i->value, sizeof(row->value));
	metric_set_join(&s->have, &row->have);
	return openmetrics_keep_row(b, row);
}

static int openmetrics_keep_sample(void *context, struct line *l)
{
	struct exporter *e = context;
	struct export_batch *b = e->batch;
	const size_t *labels_at = e->state;
	struct row row = {
		.run = b->at,
		.labels_at = *labels_at,
		.labels_bytes = b->text.used - *labels_at,
		.epoch_ns = e->start_epoch_ns + l->sample.elapsed_ns,
		.have = l->sample.have,
	};
	int err;

	memcpy(row.value, l->sample.value, sizeof(row.value));
	metric_set_join(&b->have, &row.have);
	err = openmetrics_keep_row(b, &row);
	for (size_t i = 0; !err && i < l->sample.nr_instances; i++)
		err = openmetrics_keep_instance(e, &row, &l->sample.instances[i]);
	return err;
}

static void openmetrics_keep_labels(struct buffer *t, const struct exporter *e)
{
	static const char *const labels[] = { "run", "name", "host", "job" };
	struct buffer own = { 0 };

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++) {
		const char *value = export_meta_text(e, labels[i]);

		if (value)
			openmetrics_put_label(&own, labels[i], value);
	}
	if (own.used)
		buffer_puts(&own, "}");
	buffer_put(t, own.text, own.used);
	t->failed |= own.failed;
	buffer_done(&own);
}

static struct family openmetrics_family(const char *prefix, enum metric_id id)
{
	const struct metric *m = metric_get(id);

	return (struct family){ prefix, m->key, m->help, NULL, m->kind, m->unit };
}

static int openmetrics_put_value(struct exporter *e, const char *prefix, const struct row *row,
				 enum metric_id id)
{
	const struct family f = openmetrics_family(prefix, id);
	const struct export_batch *b = e->batch;

	openmetrics_put_name(&e->text, &f);
	if (row->series)
		buffer_put(&e->text, b->series[row->series - 1].labels.text,
			   b->series[row->series - 1].labels.used);
	else if (row->labels_bytes)
		buffer_put(&e->text, e->batch->text.text + row->labels_at, row->labels_bytes);
	buffer_puts(&e->text, " ");
	buffer_put_decimal(&e->text, row->value[id], metric_decimals(id));
	buffer_puts(&e->text, " ");
	buffer_put_decimal(&e->text, row->epoch_ns / 1000000, 3);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

/* Appends a series. Of values too close in time it keeps the last counter, the first gauge. */
static int openmetrics_put_values(struct exporter *e, const char *prefix, uint64_t series,
				  enum metric_id id)
{
	FILE *file = e->batch->kept;
	struct row row, last = { 0 };
	bool has_last = false;
	int err = 0;

	rewind(file);
	while (!err && fread(&row, sizeof(row), 1, file) == 1) {
		if (row.series != series || !metric_has(&row.have, id))
			continue;
		if (has_last && (row.run != last.run || row.epoch_ns - last.epoch_ns >= APART_NS))
			err = openmetrics_put_value(e, prefix, &last, id);
		else if (has_last && metric_get(id)->kind == KIND_GAUGE)
			continue;
		last = row;
		has_last = true;
	}
	if (!err && ferror(file))
		err = -EIO;
	if (!err && has_last)
		err = openmetrics_put_value(e, prefix, &last, id);
	return err;
}

static void openmetrics_begin_family(struct exporter *e, const char *prefix, enum metric_id id)
{
	const struct family f = openmetrics_family(prefix, id);

	openmetrics_put_family(&e->text, &f, EXPOSITION_OPENMETRICS);
}

static int openmetrics_put_metric(struct exporter *e, enum metric_id id)
{
	openmetrics_begin_family(e, "bpfmon_", id);
	return openmetrics_put_values(e, "bpfmon_", 0, id);
}

/* Appends one metric for all instances of a dimension. */
static int openmetrics_put_dimension(struct exporter *e, const char *dimension, enum metric_id id)
{
	const struct export_batch *b = e->batch;
	char prefix[DIMENSION_BYTES + 16];
	bool is_first = true;
	int err = 0;

	snprintf(prefix, sizeof(prefix), "bpfmon_by_%s_", dimension);
	for (size_t i = 0; !err && i < b->nr_series; i++) {
		if (strcmp(b->series[i].dimension, dimension) != 0 ||
		    !metric_has(&b->series[i].have, id))
			continue;
		if (is_first)
			openmetrics_begin_family(e, prefix, id);
		is_first = false;
		err = openmetrics_put_values(e, prefix, i + 1, id);
	}
	return err;
}

static int openmetrics_put_families(struct exporter *e)
{
	struct export_batch *b = e->batch;
	int err = fflush(b->kept) ? -errno : 0;

	for (int i = 0; !err && i < NR_METRICS; i++)
		if (metric_has(&b->have, (enum metric_id)i))
			err = openmetrics_put_metric(e, (enum metric_id)i);
	for (size_t s = 0; s < b->nr_series; s++)
		for (int i = 0; !err && series_is_first(b, s) && i < NR_METRICS; i++)
			err = openmetrics_put_dimension(e, b->series[s].dimension,
							(enum metric_id)i);
	buffer_puts(&e->text, "# EOF\n");
	return err;
}

static int openmetrics_write(struct exporter *e)
{
	struct export_batch *b = e->batch;
	size_t labels_at = b->text.used;
	int err;

	if (!b->kept && !(b->kept = memory_tmpfile()))
		return -errno;
	openmetrics_keep_labels(&b->text, e);
	if (b->text.failed)
		return -ENOMEM;
	e->state = &labels_at;
	err = source_each(e->source, PART(LINE_SAMPLE), openmetrics_keep_sample, e);
	e->state = NULL;
	return err || !batch_is_last(b) ? err : openmetrics_put_families(e);
}

const struct export_format openmetrics_export = {
	.name = "openmetrics",
	.help = "OpenMetrics, for import into Prometheus",
	.takes_several = true,
	.documents = { { "", openmetrics_write, NULL } },
};
