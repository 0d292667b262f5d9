// SPDX-License-Identifier: BSD-2-Clause
/*
 * psrecord's log with --include-children --include-io, as CSV and as it is by default. As there,
 * counts and bytes of I/O are those since the start of the processes, also of an attachment.
 */
#include "export/before.h"

#include "model/cores.h"

#include <math.h>

#define MB 1048576.0

struct psrecord {
	struct cores cores;
	struct before before;
};

static double value_of(const struct sample *s, enum metric_id id)
{
	return sample_has(s, id) ? (double)s->value[id] : (double)NAN;
}

static uint64_t count_of(const struct exporter *e, const struct sample *s, enum metric_id id)
{
	const struct psrecord *p = e->state;

	return p->before.value[id] + s->value[id];
}

/* Percent of one core, over a time that is long enough to tell. */
static double cpu_of(struct exporter *e, const struct sample *s)
{
	struct psrecord *p = e->state;
	uint64_t milli;

	return cores_add(&p->cores, s, &milli) ? (double)milli / 10 : (double)NAN;
}

static void put_cell(struct exporter *e, double v)
{
	buffer_puts(&e->text, ",");
	if (!isnan(v))
		buffer_printf(&e->text, "%.6f", v);
}

static void put_whole_cell(struct exporter *e, const struct sample *s, enum metric_id id)
{
	buffer_puts(&e->text, ",");
	if (sample_has(s, id))
		buffer_decimal(&e->text, count_of(e, s, id), 0);
}

static int each_row(struct exporter *e, source_fn put)
{
	struct psrecord p = { .cores.cpus = (unsigned)export_system_number(e, "cpus") };

	before_values(&p.before, e);
	e->state = &p;
	return source_each(e->source, PART(LINE_SAMPLE), put, e);
}

static int put_row(void *context, struct line *l)
{
	struct exporter *e = context;
	const struct sample *s = &l->sample;

	buffer_decimal(&e->text, s->elapsed_ns, 9);
	put_whole_cell(e, s, M_processes);
	put_cell(e, cpu_of(e, s));
	put_cell(e, value_of(s, M_rss) / MB);
	put_cell(e, value_of(s, M_vms) / MB);
	put_whole_cell(e, s, M_syscr);
	put_whole_cell(e, s, M_syscw);
	put_whole_cell(e, s, M_read);
	put_whole_cell(e, s, M_write);
	buffer_puts(&e->text, "\n");
	return export_continue(e);
}

static int write_csv(struct exporter *e)
{
	buffer_puts(&e->text, "elapsed_time,nproc,cpu,mem_real,mem_virtual,"
			      "read_count,write_count,read_bytes,write_bytes\n");
	return each_row(e, put_row);
}

/* Columns of 12 characters; the first is where "# " is in the header. */
static int put_plain_row(void *context, struct line *l)
{
	static const enum metric_id counts[] = { M_syscr, M_syscw, M_read, M_write };
	struct exporter *e = context;
	const struct sample *s = &l->sample;

	buffer_printf(&e->text, "%12.3f %12.3f %12.3f %12.3f", (double)s->elapsed_ns / 1e9,
		      cpu_of(e, s), value_of(s, M_rss) / MB, value_of(s, M_vms) / MB);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		buffer_printf(&e->text, " %12.0f",
			      sample_has(s, counts[i]) ? (double)count_of(e, s, counts[i])
						       : (double)NAN);
	buffer_puts(&e->text, "\n");
	return export_continue(e);
}

static int write_plain(struct exporter *e)
{
	buffer_puts(&e->text, "# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)"
			      "  Read count  Write count   Read bytes  Write bytes \n");
	return each_row(e, put_plain_row);
}

const struct export_format psrecord_export = {
	.name = "psrecord",
	.help = "psrecord's log, as --log-format csv --include-io writes it",
	.documents = { { "", write_csv } },
};

const struct export_format psrecord_plain_export = {
	.name = "psrecord-plain",
	.help = "psrecord's log in its default format",
	.documents = { { "", write_plain } },
};
