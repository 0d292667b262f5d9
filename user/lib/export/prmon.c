// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exports prmon's two files: samples in columns separated by tabs, and a summary in JSON. Sample
 * times have milliseconds where prmon has whole seconds, so that rates can be computed. As in
 * prmon, counters and times begin with the start of the processes, even in an attachment.
 */
#include "export/extremes.h"

#include "base/number.h"

#include <math.h>

static const struct column {
	const char *name;
	enum metric_id id;
	bool is_rate; /* its average is a rate per second */
} columns[] = {
	/* prmon's order */
	{ "nprocs", M_processes, false }, { "nthreads", M_threads, false },
	{ "stime", M_system, false },     { "utime", M_user, false },
	{ "rchar", M_rchar, true },       { "read_bytes", M_read, true },
	{ "wchar", M_wchar, true },       { "write_bytes", M_write, true },
	{ "pss", M_pss, false },          { "rss", M_rss, false },
	{ "swap", M_swap, false },        { "vmem", M_vms, false },
};
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

static enum metric_unit column_unit(const struct column *c)
{
	return metric_get(c->id)->unit;
}

/* Memory is in kB, I/O in bytes. */
static uint64_t column_divisor(const struct column *c)
{
	if (column_unit(c) == UNIT_BYTES)
		return c->is_rate ? 1 : 1024;
	return column_unit(c) == UNIT_NS ? 1000000000 : 1;
}

static const char *column_unit_name(const struct column *c)
{
	if (column_unit(c) == UNIT_BYTES)
		return c->is_rate ? "B" : "kB";
	return metric_unit_name(column_unit(c));
}

/* The values that both files use. */
struct prmon {
	struct extremes x;
	struct baseline baseline;
};

static int prmon_find(struct prmon *p, struct exporter *e)
{
	int err = extremes_find(&p->x, e);

	return err ? err : baseline_read(&p->baseline, e);
}

static int prmon_put_row(void *context, struct line *l)
{
	struct exporter *e = context;
	const struct prmon *p = e->state;
	const struct sample *s = &l->sample;

	buffer_put_decimal(&e->text, (e->start_epoch_ns + s->elapsed_ns) / 1000000, 3);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		const struct column *c = &columns[i];
		uint64_t v = s->value[c->id] + p->baseline.value[c->id];

		if (!metric_has(&p->x.have, c->id))
			continue;
		buffer_puts(&e->text, "\t");
		if (!sample_has(s, c->id))
			continue;
		if (column_unit(c) == UNIT_NS)
			buffer_put_decimal(&e->text, v / 1000000, 3);
		else
			buffer_put_decimal(&e->text, v / column_divisor(c), 0);
	}
	buffer_puts(&e->text, "\t");
	buffer_put_decimal(&e->text, (p->baseline.age_ns + s->elapsed_ns) / 1000000, 3);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

/* Writes the samples; a metric without values gets no column. */
static int prmon_write_samples(struct exporter *e)
{
	struct prmon p;
	int err = prmon_find(&p, e);

	if (err)
		return err;
	e->state = &p;
	buffer_puts(&e->text, "Time");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (metric_has(&p.x.have, columns[i].id))
			buffer_printf(&e->text, "\t%s", columns[i].name);
	buffer_puts(&e->text, "\twtime\n");
	return source_each(e->source, PART(LINE_SAMPLE), prmon_put_row, e);
}

/* Returns the larger of the samples' maximum and the summary's value, without the baseline. */
static uint64_t prmon_max(const struct exporter *e, const struct extremes *x, enum metric_id id)
{
	const struct summary *s = &e->total;
	uint64_t max = x->max[id], known = 0, rss;

	if (id == M_rss && extremes_rss_peak(x, s, &rss))
		known = rss;
	else if (id == M_pss && s->has_pss_peak)
		known = s->pss_peak_bytes;
	else if (metric_get(id)->kind == KIND_COUNTER && sample_has(&s->total, id))
		known = s->total.value[id];
	return known > max ? known : max;
}

/* Returns the rate per second since the processes' start or, if unknown, the run's. */
static double prmon_rate(const struct exporter *e, const struct prmon *p, enum metric_id id)
{
	uint64_t before = p->baseline.age_ns ? p->baseline.value[id] : 0;

	return (double)(before + prmon_max(e, &p->x, id)) /
	       ((double)(p->baseline.age_ns + e->total.wall_ns) / 1e9);
}

static void prmon_put_averages(struct jsonw *j, const struct exporter *e, const struct prmon *p)
{
	jsonw_object(j, "Avg");
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		const struct column *c = &columns[i];
		double mean;

		if (!metric_has(&p->x.have, c->id) || column_unit(c) == UNIT_NS ||
		    (c->is_rate && !(p->baseline.age_ns + e->total.wall_ns)))
			continue;
		mean = c->is_rate ? prmon_rate(e, p, c->id)
				  : extremes_mean(&p->x, c->id) / (double)column_divisor(c);
		jsonw_decimal(j, c->name, number_clamp(mean * 1000), 3);
	}
	jsonw_object_end(j);
}

static void prmon_put_hardware(struct jsonw *j, const struct exporter *e)
{
	uint64_t cpus = export_system_number(e, "cpus");
	uint64_t memory_bytes = export_system_number(e, "memory_bytes");

	jsonw_object(j, "HW");
	if (cpus) {
		jsonw_object(j, "cpu");
		jsonw_uint(j, "CPUs", cpus);
		jsonw_object_end(j);
	}
	if (memory_bytes) {
		jsonw_object(j, "mem");
		jsonw_uint(j, "MemTotal", memory_bytes / 1024);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

static void prmon_put_maxima(struct jsonw *j, const struct exporter *e, const struct prmon *p)
{
	jsonw_object(j, "Max");
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		const struct column *c = &columns[i];

		if (metric_has(&p->x.have, c->id))
			jsonw_uint(j, c->name,
				   (p->baseline.value[c->id] + prmon_max(e, &p->x, c->id)) /
					   column_divisor(c));
	}
	jsonw_uint(j, "wtime", (p->baseline.age_ns + e->total.wall_ns) / 1000000000);
	jsonw_object_end(j);
}

static void prmon_put_units(struct jsonw *j, const struct extremes *x)
{
	jsonw_object(j, "Units");
	jsonw_object(j, "Avg");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (metric_has(&x->have, columns[i].id) && column_unit(&columns[i]) != UNIT_NS)
			jsonw_string(j, columns[i].name,
				     columns[i].is_rate ? "B/s" : column_unit_name(&columns[i]));
	jsonw_object_end(j);
	jsonw_object(j, "Max");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (metric_has(&x->have, columns[i].id))
			jsonw_string(j, columns[i].name, column_unit_name(&columns[i]));
	jsonw_string(j, "wtime", "s");
	jsonw_object_end(j);
	jsonw_object_end(j);
}

static int prmon_write_summary(struct exporter *e)
{
	struct jsonw *j = &e->json;
	struct prmon p;
	char version[64];
	int err = prmon_find(&p, e);

	if (err)
		return err;
	jsonw_reset(j);
	jsonw_object(j, NULL);
	prmon_put_averages(j, e, &p);
	prmon_put_hardware(j, e);
	prmon_put_maxima(j, e, &p);
	prmon_put_units(j, &p.x);
	jsonw_object(j, "prmon");
	jsonw_string(j, "Version", export_version(e, version, sizeof(version)));
	jsonw_object_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
	buffer_put(&e->text, j->text, j->used);
	return 0;
}

const struct export_format prmon_export = {
	.name = "prmon",
	.help = "the two files of prmon: PATH.txt and PATH.json",
	.documents = { { ".txt", prmon_write_samples, NULL },
		       { ".json", prmon_write_summary, NULL } },
};
