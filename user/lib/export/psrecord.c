// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exports psrecord's log with --include-children --include-io, as CSV and in its default format. As
 * there, counts and bytes begin with the start of the processes, even in an attachment.
 */
#include "export/extremes.h"

#include "run/sample.h"

#include <math.h>

#define MB 1048576.0

struct psrecord {
	struct cores cores;
	struct baseline baseline;
};

static double psrecord_value(const struct sample *s, enum metric_id id)
{
	return sample_has(s, id) ? (double)s->value[id] : (double)NAN;
}

static uint64_t psrecord_count(const struct exporter *e, const struct sample *s, enum metric_id id)
{
	const struct psrecord *p = e->state;

	return p->baseline.value[id] + s->value[id];
}

/* Returns percent of one core, over an interval that is long enough to measure. */
static double psrecord_cpu_percent(struct exporter *e, const struct sample *s)
{
	struct psrecord *p = e->state;
	uint64_t milli;

	return cores_add(&p->cores, s, &milli) ? (double)milli / 10 : (double)NAN;
}

static void psrecord_put_cell(struct exporter *e, double v)
{
	buffer_puts(&e->text, ",");
	if (!isnan(v))
		buffer_printf(&e->text, "%.6f", v);
}

static void psrecord_put_whole_cell(struct exporter *e, const struct sample *s, enum metric_id id)
{
	buffer_puts(&e->text, ",");
	if (sample_has(s, id))
		buffer_put_decimal(&e->text, psrecord_count(e, s, id), 0);
}

static int psrecord_write_rows(struct exporter *e, source_fn put)
{
	struct psrecord p = { .cores.cpus = (unsigned)export_system_number(e, "cpus") };

	baseline_read_counters(&p.baseline, e);
	e->state = &p;
	return source_each(e->source, PART(LINE_SAMPLE), put, e);
}

static int psrecord_put_row(void *context, struct line *l)
{
	struct exporter *e = context;
	const struct sample *s = &l->sample;

	buffer_put_decimal(&e->text, s->elapsed_ns, 9);
	psrecord_put_whole_cell(e, s, M_processes);
	psrecord_put_cell(e, psrecord_cpu_percent(e, s));
	psrecord_put_cell(e, psrecord_value(s, M_rss) / MB);
	psrecord_put_cell(e, psrecord_value(s, M_vms) / MB);
	psrecord_put_whole_cell(e, s, M_syscr);
	psrecord_put_whole_cell(e, s, M_syscw);
	psrecord_put_whole_cell(e, s, M_read);
	psrecord_put_whole_cell(e, s, M_write);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

static int psrecord_write_csv(struct exporter *e)
{
	buffer_puts(&e->text, "elapsed_time,nproc,cpu,mem_real,mem_virtual,"
			      "read_count,write_count,read_bytes,write_bytes\n");
	return psrecord_write_rows(e, psrecord_put_row);
}

/* Appends columns of 12 characters; the first begins below the "# " of the header. */
static int psrecord_put_plain_row(void *context, struct line *l)
{
	static const enum metric_id counts[] = { M_syscr, M_syscw, M_read, M_write };
	struct exporter *e = context;
	const struct sample *s = &l->sample;

	buffer_printf(&e->text, "%12.3f %12.3f %12.3f %12.3f", (double)s->elapsed_ns / 1e9,
		      psrecord_cpu_percent(e, s), psrecord_value(s, M_rss) / MB,
		      psrecord_value(s, M_vms) / MB);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		buffer_printf(&e->text, " %12.0f",
			      sample_has(s, counts[i]) ? (double)psrecord_count(e, s, counts[i])
						       : (double)NAN);
	buffer_puts(&e->text, "\n");
	return export_flush_full(e);
}

static int psrecord_write_plain(struct exporter *e)
{
	buffer_puts(&e->text, "# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)"
			      "  Read count  Write count   Read bytes  Write bytes \n");
	return psrecord_write_rows(e, psrecord_put_plain_row);
}

const struct export_format psrecord_export = {
	.name = "psrecord",
	.help = "psrecord log, as with --log-format csv --include-io",
	.documents = { { "", psrecord_write_csv, NULL } },
};

const struct export_format psrecord_plain_export = {
	.name = "psrecord-plain",
	.help = "psrecord log in its default format",
	.documents = { { "", psrecord_write_plain, NULL } },
};
