// SPDX-License-Identifier: BSD-2-Clause
/* Exports the summary of cctools' resource_monitor: each value as [value, "unit"]. */
#include "export/export.h"
#include "export/extremes.h"

#include "run/writer.h"

static void rmonitor_put_pair(struct jsonw *j, const char *name, uint64_t v, unsigned decimals,
			      const char *unit)
{
	jsonw_array(j, name);
	jsonw_decimal(j, NULL, v, decimals);
	jsonw_string(j, NULL, unit);
	jsonw_array_end(j);
}

/* Writes megabytes with three decimals, rounded up so that the value suffices as a request. */
static void rmonitor_put_megabytes(struct jsonw *j, const char *name, uint64_t bytes)
{
	uint64_t whole = bytes >> 20, rest = bytes & ((1 << 20) - 1);

	rmonitor_put_pair(j, name, whole * 1000 + (rest * 1000 + (1 << 20) - 1) / (1 << 20), 3,
			  "MB");
}

static void rmonitor_put_ending(struct jsonw *j, const struct summary *s)
{
	if (!s->has_status)
		return;
	jsonw_int(j, "exit_status", s->signal ? 128 + s->signal : s->exit_code);
	jsonw_string(j, "exit_type", s->signal ? "signal" : "normal");
	if (s->signal)
		jsonw_int(j, "signal", s->signal);
}

static void rmonitor_put_identity(struct exporter *e, struct jsonw *j)
{
	struct buffer command = { 0 };
	char version[64];

	jsonw_string(j, "monitor_version", export_version(e, version, sizeof(version)));
	if (export_meta_text(e, "host"))
		jsonw_string(j, "host", export_meta_text(e, "host"));
	if (export_meta_text(e, "name"))
		jsonw_string(j, "category", export_meta_text(e, "name"));
	jsonw_string(j, "taskid", export_meta_text(e, export_meta_text(e, "job") ? "job" : "run"));
	if (export_command(e, &command))
		jsonw_bytes(j, "command", command.text, command.used);
	j->failed |= command.failed;
	buffer_done(&command);
}

static void rmonitor_put_times(struct jsonw *j, const struct exporter *e)
{
	const struct summary *s = &e->total;

	rmonitor_put_pair(j, "start", e->start_epoch_ns / 1000, 6, "s");
	rmonitor_put_pair(j, "end", (e->start_epoch_ns + s->wall_ns) / 1000, 6, "s");
	rmonitor_put_pair(j, "wall_time", s->wall_ns / 1000, 6, "s");
	if (sample_has(&s->total, M_cpu))
		rmonitor_put_pair(j, "cpu_time", s->total.value[M_cpu] / 1000, 6, "s");
}

static void rmonitor_put_largest(struct jsonw *j, const char *name, const struct extremes *x,
				 enum metric_id id)
{
	if (metric_has(&x->have, id))
		rmonitor_put_megabytes(j, name, x->max[id]);
}

static void rmonitor_put_total(struct jsonw *j, const char *name, const struct summary *s,
			       enum metric_id id)
{
	if (sample_has(&s->total, id))
		rmonitor_put_megabytes(j, name, s->total.value[id]);
}

/* Returns at least the mean: the peak of an earlier version may be smaller. */
static uint64_t rmonitor_cores_peak(const struct summary *s, const struct extremes *x)
{
	uint64_t peak = metric_has(&x->have, M_cores) ? x->max[M_cores] : s->cores_peak;
	uint64_t mean = summary_cores_mean(s);

	return peak > mean ? peak : mean;
}

static void rmonitor_put_resources(struct jsonw *j, const struct exporter *e,
				   const struct extremes *x)
{
	const struct summary *s = &e->total;
	uint64_t cpus = export_system_number(e, "cpus");

	if (s->has_rss_peak_exact)
		rmonitor_put_megabytes(j, "memory", s->rss_peak_exact_bytes);
	else if (s->has_rss_peak)
		rmonitor_put_megabytes(j, "memory", s->rss_peak_bytes);
	rmonitor_put_largest(j, "virtual_memory", x, M_vms);
	rmonitor_put_largest(j, "swap_memory", x, M_swap);
	rmonitor_put_total(j, "bytes_read", s, M_rchar);
	rmonitor_put_total(j, "bytes_written", s, M_wchar);
	if (s->cores_peak || metric_has(&x->have, M_cores))
		rmonitor_put_pair(j, "cores", rmonitor_cores_peak(s, x), 3, "cores");
	if (sample_has(&s->total, M_cpu) && s->wall_ns)
		rmonitor_put_pair(j, "cores_avg", summary_cores_mean(s), 3, "cores");
	if (cpus)
		rmonitor_put_pair(j, "machine_cpus", cpus, 0, "cores");
	if (sample_has(&s->total, M_nvcsw) && sample_has(&s->total, M_nivcsw))
		rmonitor_put_pair(j, "context_switches",
				  s->total.value[M_nvcsw] + s->total.value[M_nivcsw], 0,
				  "switches");
	if (metric_has(&x->have, M_processes))
		rmonitor_put_pair(j, "max_concurrent_processes", x->max[M_processes], 0, "procs");
	if (s->processes_total)
		rmonitor_put_pair(j, "total_processes", s->processes_total, 0, "procs");
}

static void rmonitor_put_peak_times(struct jsonw *j, const struct summary *s,
				    const struct extremes *x)
{
	static const struct {
		const char *name;
		enum metric_id id;
	} peaks[] = {
		{ "virtual_memory", M_vms },
		{ "swap_memory", M_swap },
		{ "cores", M_cores },
		{ "max_concurrent_processes", M_processes },
	};

	jsonw_object(j, "peak_times");
	if (s->has_rss_peak_exact)
		rmonitor_put_pair(j, "memory", s->rss_peak_exact_elapsed_ns / 1000000, 3, "s");
	else if (s->has_rss_peak)
		rmonitor_put_pair(j, "memory", s->rss_peak_elapsed_ns / 1000000, 3, "s");
	for (size_t i = 0; i < sizeof(peaks) / sizeof(*peaks); i++)
		if (metric_has(&x->have, peaks[i].id))
			rmonitor_put_pair(j, peaks[i].name, x->max_at_ns[peaks[i].id] / 1000000, 3,
					  "s");
	jsonw_object_end(j);
}

static int rmonitor_write(struct exporter *e)
{
	struct jsonw *j = &e->json;
	struct extremes x;
	int err = extremes_find(&x, e);

	if (err)
		return err;
	jsonw_reset(j);
	jsonw_object(j, NULL);
	rmonitor_put_identity(e, j);
	rmonitor_put_ending(j, &e->total);
	rmonitor_put_times(j, e);
	rmonitor_put_resources(j, e, &x);
	rmonitor_put_peak_times(j, &e->total, &x);
	line_end(j);
	buffer_put(&e->text, j->text, j->used);
	return 0;
}

const struct export_format rmonitor_export = {
	.name = "rmonitor",
	.help = "summary of resource_monitor (cctools)",
	.takes_several = true, /* cctools reads the summaries of a file one by one */
	.documents = { { "", rmonitor_write, NULL } },
};
