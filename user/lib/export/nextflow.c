// SPDX-License-Identifier: BSD-2-Clause
/* Exports Nextflow's .command.trace for the whole tree. Unknown values are omitted. */
#include "export/export.h"
#include "export/extremes.h"

#include <string.h>

#define KIB 1024

static void nextflow_put(struct exporter *e, const char *key, uint64_t value)
{
	buffer_printf(&e->text, "%s=%llu\n", key, (unsigned long long)value);
}

static void nextflow_put_total(struct exporter *e, const char *key, enum metric_id id)
{
	if (sample_has(&e->total.total, id))
		nextflow_put(e, key, e->total.total.value[id]);
}

static void nextflow_put_kib(struct exporter *e, const char *key, bool has, uint64_t bytes)
{
	if (has)
		nextflow_put(e, key, (bytes + KIB - 1) / KIB);
}

/* The percentages of Nextflow are in tenths: of one core, and of the machine's memory. */
static void nextflow_put_cpu(struct exporter *e)
{
	const struct summary *s = &e->total;
	const json_t *model = json_object_get(json_object_get(e->meta, "system"), "cpu_model");

	nextflow_put(e, "realtime", s->wall_ns / 1000000);
	if (sample_has(&s->total, M_cpu) && s->wall_ns)
		nextflow_put(
			e, "%cpu",
			(uint64_t)(1000.0 * (double)s->total.value[M_cpu] / (double)s->wall_ns +
				   0.5));
	if (json_is_string(model) && !strpbrk(json_string_value(model), "\r\n"))
		buffer_printf(&e->text, "cpu_model=%s\n", json_string_value(model));
}

static void nextflow_put_memory(struct exporter *e, const struct extremes *x)
{
	const uint64_t memory = export_system_number(e, "memory_bytes");
	const bool has_vms = extremes_memory_is_valid(x, &e->total, M_vms);
	uint64_t rss;
	const bool has_rss = extremes_rss_peak(x, &e->total, &rss);

	if (has_rss && memory)
		nextflow_put(e, "%mem", (uint64_t)(1000.0 * (double)rss / (double)memory + 0.5));
	nextflow_put_kib(e, "vmem", has_vms, x->max[M_vms]);
	nextflow_put_kib(e, "rss", has_rss, rss);
	nextflow_put_kib(e, "peak_vmem", has_vms, x->max[M_vms]);
	nextflow_put_kib(e, "peak_rss", has_rss, rss);
}

static int nextflow_write(struct exporter *e)
{
	struct extremes x;
	int err = extremes_find(&x, e);

	if (err)
		return err;
	buffer_puts(&e->text, "nextflow.trace/v2\n");
	nextflow_put_cpu(e);
	nextflow_put_total(e, "rchar", M_rchar);
	nextflow_put_total(e, "wchar", M_wchar);
	nextflow_put_total(e, "syscr", M_syscr);
	nextflow_put_total(e, "syscw", M_syscw);
	nextflow_put_total(e, "read_bytes", M_read);
	nextflow_put_total(e, "write_bytes", M_write);
	nextflow_put_memory(e, &x);
	nextflow_put_total(e, "vol_ctxt", M_nvcsw);
	nextflow_put_total(e, "inv_ctxt", M_nivcsw);
	return 0;
}

const struct export_format nextflow_export = {
	.name = "nextflow",
	.help = "Nextflow .command.trace",
	.documents = { { "", nextflow_write, NULL } },
};
