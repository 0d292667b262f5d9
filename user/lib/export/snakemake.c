// SPDX-License-Identifier: BSD-2-Clause
/* Exports the table of Snakemake's `benchmark:`, a row per run. NA means not measured. */
#include "export/export.h"
#include "export/extremes.h"

#define MB 1048576.0
#define DAY_S 86400

static void snakemake_put_time(struct buffer *t, uint64_t ns)
{
	const uint64_t s = ns / 1000000000, days = s / DAY_S, rest = s % DAY_S;

	buffer_printf(t, "%.4f\t", (double)ns / 1e9);
	if (days)
		buffer_printf(t, "%llu day%s, ", (unsigned long long)days, days > 1 ? "s" : "");
	buffer_printf(t, "%u:%02u:%02u", (unsigned)(rest / 3600), (unsigned)(rest / 60 % 60),
		      (unsigned)(rest % 60));
}

static void snakemake_put(struct buffer *t, bool has, double value)
{
	if (has)
		buffer_printf(t, "\t%.2f", value);
	else
		buffer_puts(t, "\tNA");
}

static void snakemake_put_largest(struct exporter *e, const struct extremes *x, enum metric_id id)
{
	snakemake_put(&e->text, extremes_memory_is_valid(x, &e->total, id),
		      (double)x->max[id] / MB);
}

static void snakemake_put_total(struct buffer *t, const struct summary *s, enum metric_id id)
{
	snakemake_put(t, sample_has(&s->total, id), (double)s->total.value[id] / MB);
}

static void snakemake_put_memory(struct exporter *e, const struct extremes *x)
{
	uint64_t rss;
	bool has = extremes_rss_peak(x, &e->total, &rss);

	snakemake_put(&e->text, has, (double)rss / MB);
	snakemake_put_largest(e, x, M_vms);
	snakemake_put_largest(e, x, M_uss);
	snakemake_put_largest(e, x, M_pss);
}

/* Writes a row. A mean load of 100 is one core. */
static int snakemake_write(struct exporter *e)
{
	const struct summary *s = &e->total;
	const bool has_cpu = sample_has(&s->total, M_cpu);
	struct extremes x;
	int err = extremes_find(&x, e);

	if (err)
		return err;
	if (!e->batch->at)
		buffer_puts(&e->text,
			    "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\t"
			    "mean_load\tcpu_time\n");
	snakemake_put_time(&e->text, s->wall_ns);
	snakemake_put_memory(e, &x);
	snakemake_put_total(&e->text, s, M_read);
	snakemake_put_total(&e->text, s, M_write);
	snakemake_put(&e->text, has_cpu && s->wall_ns,
		      100.0 * (double)s->total.value[M_cpu] /
			      (double)(s->wall_ns ? s->wall_ns : 1));
	snakemake_put(&e->text, has_cpu, (double)s->total.value[M_cpu] / 1e9);
	buffer_puts(&e->text, "\n");
	return 0;
}

const struct export_format snakemake_export = {
	.name = "snakemake",
	.help = "table of Snakemake's benchmark directive",
	.takes_several = true, /* like Snakemake's repetitions */
	.documents = { { "", snakemake_write, NULL } },
};
