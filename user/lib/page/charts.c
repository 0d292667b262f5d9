// SPDX-License-Identifier: BSD-2-Clause
#include "page/charts.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RATE 1e15     /* per second; larger rates are drawn as this */
#define LEAST_WEIGHT 1e-9 /* of the first row, before which no time has passed */

static bool chart_is_of_cores(size_t i)
{
	return chart_specs[i].unit == CHART_CORES;
}

static bool chart_is_of_gauges(size_t i)
{
	const enum chart_unit unit = chart_specs[i].unit;

	return unit == CHART_MEMORY || unit == CHART_BYTES || unit == CHART_COUNT ||
	       unit == CHART_GPUS;
}

bool chart_has_sum(const struct chart_spec *spec)
{
	return spec->curve[spec->nr - 1].style == CURVE_STACKED;
}

int charts_init(struct report_charts *c, size_t room)
{
	*c = (struct report_charts){ .last = memory_calloc(2, sizeof(*c->last)) };
	if (!c->last)
		return -ENOMEM;
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (downsampler_init(&c->sampler[i],
				     chart_specs[i].nr + chart_has_sum(&chart_specs[i]), room))
			return -ENOMEM;
	return 0;
}

void charts_done(struct report_charts *c)
{
	for (size_t i = 0; i < NR_CHARTS; i++)
		downsampler_done(&c->sampler[i]);
	free(c->last);
	c->last = NULL;
}

void charts_add_metrics(struct metric_set *set)
{
	metric_put(set, M_cpu); /* for the mean of the cores */
	for (size_t i = 0; i < NR_CHARTS; i++)
		for (unsigned k = 0; k < chart_specs[i].nr; k++)
			metric_put(set, chart_specs[i].curve[k].id);
}

static bool metric_is_rate(enum metric_id id)
{
	return metric_get(id)->kind == KIND_COUNTER;
}

/* Returns the rate since the latest row of the chart, in stored units per second. */
static double column_rate(const struct chart_last *last, const struct sample *s, enum metric_id id)
{
	if (!sample_has(s, id) || !last->is_there || !metric_has(&last->have, id) ||
	    s->value[id] < last->value[id] || s->elapsed_ns <= last->elapsed_ns)
		return NAN;
	return (double)(s->value[id] - last->value[id]) *
	       (1e9 / (double)(s->elapsed_ns - last->elapsed_ns));
}

/* Scales user and system time down to the cores in use, which the machine limits. */
static double rate_limit_to_cores(const struct chart_last *last, const struct sample *s,
				  double rate)
{
	double whole = column_rate(last, s, M_user) + column_rate(last, s, M_system);
	double cores = (double)s->value[M_cores] * 1e6; /* thousandths -> ns per second */

	return sample_has(s, M_cores) && whole > cores ? rate * (cores / whole) : rate;
}

/* Returns a gauge in stored units, or a rate in units per second. */
static double column_value(const struct chart_last *last, const struct sample *s, enum metric_id id)
{
	double value;

	if (!sample_has(s, id))
		return NAN;
	value = metric_is_rate(id) ? column_rate(last, s, id) : (double)s->value[id];
	return id == M_user || id == M_system ? rate_limit_to_cores(last, s, value) : value;
}

/* Returns the sum of the columns that were read. */
static double row_sum(const struct downsampler_row *row, unsigned nr)
{
	double sum = NAN;

	for (unsigned k = 0; k < nr; k++)
		if (!isnan(row->value[k]))
			sum = isnan(sum) ? row->value[k] : sum + row->value[k];
	return sum;
}

/*
 * The last samples of a run find no process any more. Its memory is then unknown, not 0: rows of
 * gauges are held back until a process is found again, or there are more of them.
 */
static bool charts_are_idle(const struct report_charts *c)
{
	return c->has_alive && c->empty && c->empty <= CHART_IDLE;
}

static void gauges_add(struct report_charts *c, size_t i, const struct chart_row *r)
{
	if (charts_are_idle(c)) {
		c->idle[i][c->empty - 1] = *r;
		return;
	}
	for (size_t k = 0; k < c->nr_idle; k++)
		downsampler_add(&c->sampler[i], &c->idle[i][k].row, c->idle[i][k].weight);
	downsampler_add(&c->sampler[i], &r->row, r->weight);
}

static void chart_add_row(struct report_charts *c, size_t i, const struct sample *s)
{
	struct chart_row r = { .row.seconds = (double)s->elapsed_ns / 1e9, .weight = LEAST_WEIGHT };
	struct chart_last *last = &c->last[chart_is_of_cores(i)];
	const struct chart_spec *spec = &chart_specs[i];

	if (last->is_there)
		r.weight = (double)(s->elapsed_ns - last->elapsed_ns) / 1e9;
	for (unsigned k = 0; k < spec->nr; k++)
		r.row.value[k] = column_value(last, s, spec->curve[k].id);
	if (chart_has_sum(spec))
		r.row.value[spec->nr] = row_sum(&r.row, spec->nr);
	if (s->elapsed_ns < c->from_ns)
		return;
	if (chart_is_of_gauges(i))
		gauges_add(c, i, &r);
	else
		downsampler_add(&c->sampler[i], &r.row, r.weight);
	c->newest[i] = r.row;
	c->is_new[i] = true;
}

static void chart_last_set(struct chart_last *last, const struct sample *s)
{
	memcpy(last->value, s->value, sizeof(last->value));
	last->have = s->have;
	last->elapsed_ns = s->elapsed_ns;
	last->is_there = true;
}

/*
 * A sample taken for a mark may follow another too soon to measure cores. It adds no row, and the
 * next row counts from the one before.
 */
static void charts_add_cores(struct report_charts *c, const struct sample *s)
{
	struct chart_last *last = &c->last[true];
	struct sample mean = *s;
	uint64_t milli;
	bool is_known = cores_add(&c->cores, s, &milli);

	if (last->is_there && s->elapsed_ns - last->elapsed_ns < SHORTEST_FOR_CORES)
		return;
	if (is_known)
		sample_set(&mean, M_cores, milli);
	else
		metric_drop(&mean.have, M_cores);
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (chart_is_of_cores(i))
			chart_add_row(c, i, &mean);
	chart_last_set(last, s);
}

static void charts_add_others(struct report_charts *c, const struct sample *s)
{
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (!chart_is_of_cores(i))
			chart_add_row(c, i, s);
	c->nr_idle = charts_are_idle(c) ? c->empty : 0;
}

static void charts_notice_end(struct report_charts *c, const struct sample *s)
{
	if (!sample_has(s, M_processes) || s->value[M_processes]) {
		c->has_alive |= sample_has(s, M_processes);
		c->empty = 0;
	} else {
		c->empty++;
	}
}

void charts_add(struct report_charts *c, const struct sample *s)
{
	if (c->last[false].is_there && s->elapsed_ns <= c->last_elapsed_ns)
		return; /* no run has two samples of one time */
	charts_notice_end(c, s);
	charts_add_cores(c, s);
	charts_add_others(c, s);
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(s, (enum metric_id)i))
			metric_put(s->value[i] ? &c->above_zero : &c->seen, (enum metric_id)i);
	chart_last_set(&c->last[false], s);
	c->last_elapsed_ns = s->elapsed_ns;
}

struct downsampler_bucket *charts_get(const struct report_charts *c, size_t i, size_t *nr)
{
	return downsampler_get(&c->sampler[i], nr);
}

#define OF_MEANS 2 /* decimals of a mean of counts */

static void column_put_value(struct jsonw *j, const char *key, enum metric_id id, double v)
{
	unsigned decimals = metric_decimals(id), kept;
	bool is_mean = metric_get(id)->unit == UNIT_COUNT && v > floor(v);

	if (isnan(v)) {
		jsonw_null(j, key);
	} else if (!metric_is_rate(id) && is_mean) {
		jsonw_decimal(j, key, number_clamp(floor(v * pow(10, OF_MEANS))), OF_MEANS);
	} else if (!metric_is_rate(id)) {
		jsonw_decimal(j, key, number_clamp(floor(v)), decimals);
	} else {
		v /= pow(10, decimals);
		kept = v >= 1000 ? 0 : decimals ? 4 : 3;
		jsonw_decimal(j, key, number_clamp(fmin(v, MAX_RATE) * pow(10, kept)), kept);
	}
}

bool charts_has_curve(const struct report_charts *c, const struct curve_spec *curve)
{
	return metric_has(&c->above_zero, curve->id) ||
	       ((!curve->is_rare || c->shows_rare) && metric_has(&c->seen, curve->id));
}

static void chart_write_curve(struct jsonw *j, const struct curve_spec *curve)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "key", metric_get(curve->id)->key);
	jsonw_string(j, "label", curve->label);
	jsonw_uint(j, "colour", curve->colour);
	jsonw_string(j, "style", curve_style_name(curve->style));
	jsonw_object_end(j);
}

static void chart_write_spec(const struct report_charts *c, const struct chart_spec *spec,
			     struct jsonw *j)
{
	jsonw_string(j, "title", spec->title);
	jsonw_string(j, "what", spec->what);
	jsonw_string(j, "unit", chart_unit_name(spec->unit));
	jsonw_array(j, "curves");
	for (unsigned k = 0; k < spec->nr; k++)
		if (charts_has_curve(c, &spec->curve[k]))
			chart_write_curve(j, &spec->curve[k]);
	jsonw_array_end(j);
}

struct chart_rows {
	struct downsampler_bucket *of[NR_CHARTS]; /* owned */
	size_t nr[NR_CHARTS];
};

static void chart_write_column(const struct chart_rows *r, size_t i, unsigned k, const char *key,
			       enum bucket_value kind, struct jsonw *j)
{
	const struct chart_spec *spec = &chart_specs[i];
	enum metric_id id = spec->curve[k < spec->nr ? k : 0].id; /* a sum has the same unit */

	jsonw_array(j, key);
	for (size_t n = 0; n < r->nr[i]; n++)
		column_put_value(j, NULL, id, r->of[i][n].value[kind][k]);
	jsonw_array_end(j);
}

static void chart_write_columns(const struct report_charts *c, const struct chart_rows *r, size_t i,
				enum bucket_value kind, struct jsonw *j)
{
	static const char *const keys[] = { "columns", "least", "most" };
	const struct chart_spec *spec = &chart_specs[i];
	bool has_any = false;

	jsonw_object(j, keys[kind]);
	for (unsigned k = 0; k < spec->nr; k++) {
		if (!charts_has_curve(c, &spec->curve[k]))
			continue;
		has_any = true;
		if (kind != BUCKET_LEAST || spec->curve[k].style != CURVE_STACKED)
			chart_write_column(r, i, k, metric_get(spec->curve[k].id)->key, kind, j);
	}
	if (kind != BUCKET_MEAN && has_any && chart_has_sum(spec))
		chart_write_column(r, i, spec->nr, "sum", kind, j);
	jsonw_object_end(j);
}

static void chart_rows_done(struct chart_rows *r)
{
	for (size_t i = 0; i < NR_CHARTS; i++)
		free(r->of[i]);
}

static int chart_rows_get(struct chart_rows *r, const struct report_charts *c)
{
	for (size_t i = 0; i < NR_CHARTS; i++) {
		r->of[i] = charts_get(c, i, &r->nr[i]);
		if (!r->of[i])
			return -ENOMEM;
	}
	return 0;
}

/* A chart of rare curves is left out while it has none, except in a window of a page that may. */
static bool chart_is_written(const struct report_charts *c, size_t i)
{
	const struct chart_spec *spec = &chart_specs[i];
	bool is_written = c->shows_rare;

	for (unsigned k = 0; !is_written && k < spec->nr; k++)
		is_written = !spec->curve[k].is_rare || charts_has_curve(c, &spec->curve[k]);
	return is_written;
}

/* Returns true if the times of chart @a begin with those of chart @b. */
static bool chart_has_times_of(const struct chart_rows *r, size_t a, size_t b)
{
	bool has = r->nr[a] >= r->nr[b];

	for (size_t i = 0; has && i < r->nr[b]; i++)
		has = r->of[a][i].seconds == r->of[b][i].seconds;
	return has;
}

/* Writes the name of an earlier chart in place of the same times. */
static void chart_write_times(const struct report_charts *c, const struct chart_rows *r, size_t i,
			      struct jsonw *j)
{
	for (size_t k = 0; k < i; k++)
		if (chart_is_written(c, k) && chart_has_times_of(r, k, i)) {
			jsonw_string(j, "time", chart_specs[k].name);
			return;
		}
	jsonw_array(j, "time");
	for (size_t k = 0; k < r->nr[i]; k++)
		jsonw_decimal(j, NULL, number_clamp(r->of[i][k].seconds * 1e6), 6);
	jsonw_array_end(j);
}

static void chart_write(const struct report_charts *c, const struct chart_rows *r, size_t i,
			struct jsonw *j)
{
	jsonw_object(j, chart_specs[i].name);
	chart_write_spec(c, &chart_specs[i], j);
	jsonw_uint(j, "samples", c->sampler[i].rows);
	jsonw_uint(j, "each", c->sampler[i].each);
	chart_write_times(c, r, i, j);
	chart_write_columns(c, r, i, BUCKET_MEAN, j);
	if (c->sampler[i].each > 1) {
		chart_write_columns(c, r, i, BUCKET_LEAST, j);
		chart_write_columns(c, r, i, BUCKET_MOST, j);
	}
	jsonw_object_end(j);
}

int charts_write(const struct report_charts *c, struct jsonw *j)
{
	struct chart_rows rows = { 0 };
	int err = chart_rows_get(&rows, c);

	jsonw_object(j, "charts");
	for (size_t i = 0; !err && i < NR_CHARTS; i++)
		if (chart_is_written(c, i))
			chart_write(c, &rows, i, j);
	jsonw_object_end(j);
	chart_rows_done(&rows);
	return err;
}

static void chart_write_newest(const struct report_charts *c, size_t i, struct jsonw *j)
{
	const struct chart_spec *spec = &chart_specs[i];

	jsonw_object(j, spec->name);
	jsonw_decimal(j, "time", number_clamp(c->newest[i].seconds * 1e6), 6);
	for (unsigned k = 0; k < spec->nr; k++)
		column_put_value(j, metric_get(spec->curve[k].id)->key, spec->curve[k].id,
				 c->newest[i].value[k]);
	jsonw_object_end(j);
}

void charts_write_newest(struct report_charts *c, struct jsonw *j)
{
	jsonw_object(j, "charts");
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (c->is_new[i])
			chart_write_newest(c, i, j);
	jsonw_object_end(j);
	memset(c->is_new, 0, sizeof(c->is_new));
}

/* clang-format off */
const struct chart_spec chart_specs[NR_CHARTS] = {
	{ "cpu", "CPU", "cores in use", CHART_CORES, 5, {
		{ M_user, "user", 1, CURVE_STACKED, false },
		{ M_system, "system", 2, CURVE_STACKED, false },
		{ M_cores, "total", 0, CURVE_LINE, false },
		{ M_runqueue_wait, "waiting for a CPU", 4, CURVE_HIDDEN, false },
		{ M_cgroup_throttled, "throttled by a CPU limit", 5, CURVE_HIDDEN, true } } },
	{ "memory", "Memory", "resident", CHART_MEMORY, 9, {
		{ M_rss_anon, "anonymous", 1, CURVE_STACKED, false },
		{ M_rss_file, "file-backed", 3, CURVE_STACKED, false },
		{ M_rss_shmem, "shared", 2, CURVE_STACKED, true },
		{ M_rss, "total", 0, CURVE_LINE, false },
		{ M_pss, "PSS", 5, CURVE_LINE, false },
		{ M_swap, "swapped out", 4, CURVE_LINE, true },
		{ M_hugetlb, "huge pages", 2, CURVE_DASHED, true },
		{ M_cgroup_memory, "cgroup", 6, CURVE_LINE, false },
		{ M_cgroup_swap, "cgroup, swapped out", 4, CURVE_DASHED, true } } },
	{ "gpu", "GPUs", "in use", CHART_GPUS, 4, {
		{ M_gpus_held, "held", 0, CURVE_LINE, true },
		{ M_gpus_used, "used", 1, CURVE_LINE, true },
		{ M_gpus_idle, "held without work", 4, CURVE_LINE, true },
		{ M_gpu_device_busy, "used by all processes", 3, CURVE_DASHED, true } } },
	{ "gpu-memory", "GPU memory", "in use", CHART_BYTES, 2, {
		{ M_gpu_memory, "this run", 1, CURVE_LINE, true },
		{ M_gpu_device_memory, "all processes", 0, CURVE_DASHED, true } } },
	{ "io", "I/O", "per second", CHART_BYTE_RATE, 4, {
		{ M_read, "from storage", 1, CURVE_LINE, false },
		{ M_write, "to storage", 2, CURVE_LINE, false },
		{ M_rchar, "read calls", 3, CURVE_HIDDEN, false },
		{ M_wchar, "write calls", 4, CURVE_HIDDEN, false } } },
	{ "io-kinds", "I/O by kind", "of calls, per second", CHART_BYTE_RATE, 8, {
		{ M_rchar_files, "from files", 1, CURVE_LINE, true },
		{ M_wchar_files, "to files", 2, CURVE_LINE, true },
		{ M_rchar_sockets, "from sockets", 3, CURVE_LINE, true },
		{ M_wchar_sockets, "to sockets", 4, CURVE_LINE, true },
		{ M_rchar_pipes, "from pipes", 5, CURVE_LINE, true },
		{ M_wchar_pipes, "to pipes", 6, CURVE_LINE, true },
		{ M_rchar_other, "from others", 1, CURVE_DASHED, true },
		{ M_wchar_other, "to others", 2, CURVE_DASHED, true } } },
	{ "network", "Network", "sockets, per second", CHART_BYTE_RATE, 4, {
		{ M_net_rx, "received", 1, CURVE_LINE, false },
		{ M_net_tx, "sent", 2, CURVE_LINE, false },
		{ M_net_rx_unix, "received over Unix sockets", 3, CURVE_HIDDEN, true },
		{ M_net_tx_unix, "sent over Unix sockets", 4, CURVE_HIDDEN, true } } },
	{ "power", "Power", "drawn", CHART_WATTS, 4, {
		{ M_gpu_power, "GPUs held", 1, CURVE_LINE, true },
		{ M_gpu_energy, "GPUs held, by energy", 3, CURVE_DASHED, true },
		{ M_host_energy, "machine", 0, CURVE_LINE, true },
		{ M_energy_apportioned, "share by CPU time", 2, CURVE_LINE, true } } },
	{ "processes", "Processes and threads", "alive", CHART_COUNT, 2, {
		{ M_threads, "threads", 2, CURVE_LINE, false },
		{ M_processes, "processes", 1, CURVE_LINE, false } } },
	{ "waits", "Waiting", "threads by what they wait for, estimated", CHART_COUNT, 10, {
		{ M_wait_child, "child", 1, CURVE_STACKED, true },
		{ M_wait_futex, "futex", 2, CURVE_STACKED, true },
		{ M_wait_pipe, "pipe", 3, CURVE_STACKED, true },
		{ M_wait_socket, "socket", 4, CURVE_STACKED, true },
		{ M_wait_disk, "disk", 5, CURVE_STACKED, true },
		{ M_wait_poll, "poll", 3, CURVE_STACKED, true },
		{ M_wait_lock, "file lock", 1, CURVE_STACKED, true },
		{ M_wait_timer, "timer", 6, CURVE_STACKED, true },
		{ M_wait_other, "other", 2, CURVE_STACKED, true },
		{ M_wait_unseen, "not seen", 0, CURVE_STACKED, true } } },
	{ "faults", "Page faults", "per second", CHART_COUNT_RATE, 2, {
		{ M_minflt, "minor", 1, CURVE_LINE, false },
		{ M_majflt, "major", 2, CURVE_LINE, false } } },
	{ "switches", "Context switches", "per second", CHART_COUNT_RATE, 2, {
		{ M_nvcsw, "voluntary", 1, CURVE_LINE, false },
		{ M_nivcsw, "involuntary", 2, CURVE_LINE, false } } },
	{ "pressure", "Pressure", "share of the time that tasks waited", CHART_SHARE, 7, {
		{ M_cgroup_cpu_pressure_some, "CPU, some", 5, CURVE_LINE, true },
		{ M_cgroup_memory_pressure_some, "memory, some", 1, CURVE_LINE, true },
		{ M_cgroup_memory_pressure_full, "memory, all", 2, CURVE_LINE, true },
		{ M_cgroup_io_pressure_some, "I/O, some", 3, CURVE_LINE, true },
		{ M_cgroup_io_pressure_full, "I/O, all", 4, CURVE_LINE, true },
		{ M_host_memory_pressure_some, "machine's memory, some", 1, CURVE_DASHED, true },
		{ M_host_memory_pressure_full, "machine's memory, all", 2, CURVE_DASHED, true } } },
};
/* clang-format on */

size_t chart_find(const char *name)
{
	size_t i = 0;

	while (i < NR_CHARTS && strcmp(chart_specs[i].name, name) != 0)
		i++;
	return i;
}

const char *chart_unit_name(enum chart_unit unit)
{
	static const char *const names[NR_CHART_UNITS] = {
		[CHART_CORES] = "cores", [CHART_MEMORY] = "bytes",
		[CHART_BYTES] = "bytes", [CHART_BYTE_RATE] = "byte_rate",
		[CHART_COUNT] = "count", [CHART_COUNT_RATE] = "count_rate",
		[CHART_SHARE] = "share", [CHART_GPUS] = "gpus",
		[CHART_WATTS] = "watts",
	};

	return names[unit];
}

const char *curve_style_name(enum curve_style style)
{
	static const char *const names[NR_CURVE_STYLES] = { "line", "dashed", "stacked", "hidden" };

	return names[style];
}
