// SPDX-License-Identifier: BSD-2-Clause
#include "report/overlay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NR_COLOURS 6
#define LEAST_ROOM 64

/* The metrics that are compared over time. */
static const struct {
	enum metric_id id;
	const char *title, *what;
} curves[] = {
	{ M_cores, "CPU", "cores in use" },
	{ M_rss, "Memory", "resident" },
	{ M_pss, "Memory", "PSS" },
	{ M_cgroup_memory, "Memory", "of the cgroup" },
	{ M_read, "From storage", "per second" },
	{ M_write, "To storage", "per second" },
	{ M_rchar, "Read calls", "per second" },
	{ M_wchar, "Write calls", "per second" },
	{ M_processes, "Processes", "alive" },
	{ M_minflt, "Minor page faults", "per second" },
};
#define NR_CURVES (sizeof(curves) / sizeof(*curves))

/* The place of a metric in the charts of a run. */
struct curve_place {
	size_t chart;
	unsigned column;
};

static bool curve_find_place(enum metric_id id, struct curve_place *p)
{
	for (p->chart = 0; p->chart < NR_CHARTS; p->chart++)
		for (p->column = 0; p->column < chart_specs[p->chart].nr; p->column++)
			if (chart_specs[p->chart].curve[p->column].id == id)
				return true;
	return false;
}

static int overlay_add_sample(void *context, struct line *l)
{
	charts_add(context, &l->sample);
	return 0;
}

int overlay_add(struct overlay *o, const char *label, const char *name, unsigned colour,
		struct source *src)
{
	struct overlay_run *r = &o->run[o->nr];
	size_t room = CHART_ROOM / (o->room ? o->room : 1) & ~1UL;
	int err;

	*r = (struct overlay_run){ .label = label, .name = name, .colour = colour };
	err = charts_init(&r->charts);
	for (size_t i = 0; !err && i < NR_CHARTS; i++) {
		downsampler_done(&r->charts.sampler[i]);
		err = downsampler_init(&r->charts.sampler[i], chart_specs[i].nr,
				       room > LEAST_ROOM ? room : LEAST_ROOM);
	}
	if (!err)
		err = source_each(src, PART(LINE_SAMPLE), overlay_add_sample, &r->charts);
	if (err)
		charts_done(&r->charts);
	else
		o->nr++;
	return err;
}

void overlay_done(struct overlay *o)
{
	for (size_t i = 0; i < o->nr; i++)
		charts_done(&o->run[i].charts);
	o->nr = 0;
}

/* The rows in which the metric of a curve was read. */
struct points {
	struct downsampler_row *rows; /* owned */
	size_t nr;
	size_t at; /* where points_interpolate() continues */
};

static int points_read(const struct overlay_run *r, const struct curve_place *p, struct points *out)
{
	size_t all;
	struct downsampler_row *rows = downsampler_get_rows(&r->charts.sampler[p->chart], &all);

	*out = (struct points){ .rows = rows };
	for (size_t i = 0; rows && i < all; i++) {
		rows[i].value[0] = rows[i].value[p->column];
		if (!isnan(rows[i].value[0]))
			rows[out->nr++] = rows[i];
	}
	return rows ? 0 : -ENOMEM;
}

/*
 * The value at @seconds, on the line between two samples; NAN before the first and after the last.
 * From call to call @seconds increases.
 */
static double points_interpolate(struct points *p, double seconds)
{
	const struct downsampler_row *a, *b;

	while (p->at < p->nr && p->rows[p->at].seconds < seconds)
		p->at++;
	if (p->at == p->nr)
		return NAN;
	b = &p->rows[p->at];
	if (b->seconds == seconds)
		return b->value[0];
	if (!p->at)
		return NAN;
	a = b - 1;
	return a->value[0] +
	       (b->value[0] - a->value[0]) * (seconds - a->seconds) / (b->seconds - a->seconds);
}

static int time_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The times of all points in order, each once; owned by the caller, NULL without memory. */
static double *points_merge_times(const struct points *points, size_t runs, size_t *nr)
{
	size_t all = 0, n = 0;
	double *times;

	for (size_t i = 0; i < runs; i++)
		all += points[i].nr;
	times = calloc(all + 1, sizeof(*times));
	*nr = 0;
	if (!times)
		return NULL;
	for (size_t i = 0; i < runs; i++)
		for (size_t k = 0; k < points[i].nr; k++)
			times[n++] = points[i].rows[k].seconds;
	qsort(times, all, sizeof(*times), time_compare);
	for (size_t i = 0; i < all; i++)
		if (!*nr || times[i] != times[*nr - 1])
			times[(*nr)++] = times[i];
	return times;
}

static void overlay_write_curves(const struct overlay *o, struct jsonw *j)
{
	jsonw_array(j, "curves");
	for (size_t i = 0; i < o->nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "key", o->run[i].label);
		jsonw_string(j, "label", o->run[i].label);
		jsonw_uint(j, "colour", o->run[i].colour % NR_COLOURS + 1);
		jsonw_string(j, "style",
			     curve_style_name(o->run[i].colour < NR_COLOURS ? CURVE_LINE
									    : CURVE_DASHED));
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void overlay_write_points(const struct overlay *o, struct points *points, enum metric_id id,
				 struct jsonw *j)
{
	double unit = pow(10, metric_decimals(id));
	size_t nr;
	double *times = points_merge_times(points, o->nr, &nr);

	j->failed |= !times;
	jsonw_array(j, "time");
	for (size_t k = 0; k < nr; k++)
		jsonw_double(j, NULL, round(times[k] * 1e6) / 1e6);
	jsonw_array_end(j);
	jsonw_object(j, "columns");
	for (size_t i = 0; i < o->nr; i++) {
		jsonw_array(j, o->run[i].label);
		for (size_t k = 0; k < nr; k++)
			jsonw_double(j, NULL,
				     round(points_interpolate(&points[i], times[k]) / unit * 1e3) /
					     1e3);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
	free(times);
}

static int overlay_write_chart(const struct overlay *o, size_t curve, struct jsonw *j)
{
	struct points points[OVERLAY_RUNS] = { 0 };
	enum metric_id id = curves[curve].id;
	uint64_t samples = 0, each = 1;
	struct curve_place p;
	int err = curve_find_place(id, &p) ? 0 : -ENOENT;

	for (size_t i = 0; !err && i < o->nr; i++) {
		const struct downsampler *t = &o->run[i].charts.sampler[p.chart];

		err = points_read(&o->run[i], &p, &points[i]);
		samples += points[i].nr;
		each = t->each > each ? t->each : each;
	}
	if (!err && samples) {
		jsonw_object(j, metric_get(id)->key);
		jsonw_string(j, "title", curves[curve].title);
		jsonw_string(j, "what", curves[curve].what);
		jsonw_string(j, "unit", chart_unit_name(chart_specs[p.chart].unit));
		overlay_write_curves(o, j);
		jsonw_uint(j, "samples", samples);
		jsonw_uint(j, "each", each);
		overlay_write_points(o, points, id, j);
		jsonw_object_end(j);
	}
	for (size_t i = 0; i < o->nr; i++)
		free(points[i].rows);
	return err == -ENOENT ? 0 : err;
}

static void overlay_write_frame(const struct overlay *o, const char *comparison, size_t left_out,
				struct jsonw *j)
{
	uint64_t samples = 0;

	jsonw_string(j, "version", BPFMON_VERSION);
	jsonw_array(j, "runs");
	for (size_t i = 0; i < o->nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "label", o->run[i].label);
		jsonw_string(j, "name", o->run[i].name);
		jsonw_object_end(j);
		samples += o->run[i].charts.sampler[0].rows;
	}
	jsonw_array_end(j);
	jsonw_uint(j, "left_out", left_out);
	jsonw_uint(j, "samples", samples);
	jsonw_string(j, "comparison", comparison);
	/* the scripts that both pages share read these of a single run */
	jsonw_object(j, "meta");
	jsonw_object_end(j);
	jsonw_object(j, "summary");
	jsonw_object_end(j);
	jsonw_object(j, "processes");
	jsonw_array(j, "fields");
	jsonw_array_end(j);
	jsonw_array(j, "rows");
	jsonw_array_end(j);
	jsonw_object_end(j);
}

int overlay_write(const struct overlay *o, const char *comparison, size_t left_out, struct jsonw *j)
{
	int err = 0;

	jsonw_object(j, NULL);
	overlay_write_frame(o, comparison, left_out, j);
	jsonw_object(j, "charts");
	for (size_t i = 0; !err && i < NR_CURVES; i++)
		err = overlay_write_chart(o, i, j);
	jsonw_object_end(j);
	jsonw_object_end(j);
	return err ? err : j->failed ? -ENOMEM : 0;
}
