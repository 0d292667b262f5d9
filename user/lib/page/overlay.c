// SPDX-License-Identifier: BSD-2-Clause
#include "page/overlay.h"

#include "base/memory.h"
#include "page/excerpt.h"
#include "study/stats.h"
#include "version.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 64

static int overlay_add_line(void *context, struct line *l)
{
	struct overlay_run *r = context;

	if (l->kind == LINE_META) {
		json_decref(r->meta);
		r->meta = json_incref(l->tree);
	} else {
		charts_add(&r->charts, &l->sample);
	}
	return 0;
}

int overlay_add(struct overlay *o, const char *name, size_t group, struct source *src)
{
	struct overlay_run *r = &o->run[o->nr];
	size_t room = CHART_ROOM / (o->room ? o->room : 1) & ~1UL;
	int err;

	*r = (struct overlay_run){ .name = name, .group = group };
	err = charts_init(&r->charts, room > LEAST_ROOM ? room : LEAST_ROOM);
	if (!err)
		err = source_each(src, PART(LINE_META) | PART(LINE_SAMPLE), overlay_add_line, r);
	o->nr++; /* also after an error, so that overlay_done() frees it */
	return err;
}

void overlay_done(struct overlay *o)
{
	for (size_t i = 0; i < o->nr; i++) {
		json_decref(o->run[i].meta);
		charts_done(&o->run[i].charts);
	}
	o->nr = 0;
}

#define NR_COLOURS 6
#define BAND_POINTS 300 /* maximum number of points of a median */
#define TEXT_SHOWN 200

static const struct {
	enum metric_id id;
	const char *title, *what;
} curves[] = {
	{ M_cores, "CPU", "cores in use" },
	{ M_rss, "Memory", "resident" },
	{ M_pss, "Memory", "PSS" },
	{ M_cgroup_memory, "Memory", "of the cgroup" },
	{ M_gpus_used, "GPUs", "in use" },
	{ M_gpu_memory, "GPU memory", "in use" },
	{ M_gpu_power, "Power", "of the GPUs held" },
	{ M_host_energy, "Power", "of the machine" },
	{ M_read, "From storage", "per second" },
	{ M_write, "To storage", "per second" },
	{ M_rchar, "Read calls", "per second" },
	{ M_wchar, "Write calls", "per second" },
	{ M_processes, "Processes", "alive" },
	{ M_minflt, "Minor page faults", "per second" },
};
#define NR_CURVES (sizeof(curves) / sizeof(*curves))

/* Position of a metric in the charts of a run. */
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

struct point {
	double seconds, value[NR_BUCKET_VALUES];
};

/* Values of a run in which the metric was read. */
struct points {
	struct point *list; /* owned */
	size_t nr;
	size_t at; /* where points_interpolate() continues */
};

static int points_read(const struct overlay_run *r, const struct curve_place *p, struct points *out)
{
	size_t all;
	struct downsampler_bucket *rows = charts_get(&r->charts, p->chart, &all);

	*out = (struct points){ .list = rows ? memory_calloc(all + 1, sizeof(*out->list)) : NULL };
	for (size_t i = 0; out->list && i < all; i++) {
		struct point *to = &out->list[out->nr];

		if (isnan(rows[i].value[BUCKET_MEAN][p->column]))
			continue;
		to->seconds = rows[i].seconds;
		for (int k = 0; k < NR_BUCKET_VALUES; k++)
			to->value[k] = rows[i].value[k][p->column];
		out->nr++;
	}
	free(rows);
	return out->list ? 0 : -ENOMEM;
}

/*
 * Interpolates linearly between two samples. Stores NAN before the first and after the last.
 * @seconds must not decrease from call to call.
 */
static void points_interpolate(struct points *p, double seconds, double out[NR_BUCKET_VALUES])
{
	const struct point *a, *b;
	double part;

	while (p->at < p->nr && p->list[p->at].seconds < seconds)
		p->at++;
	b = &p->list[p->at];
	a = p->at ? b - 1 : b;
	for (int k = 0; k < NR_BUCKET_VALUES; k++) {
		out[k] = NAN;
		if (p->at == p->nr || (!p->at && b->seconds != seconds))
			continue;
		part = a == b ? 0 : (seconds - a->seconds) / (b->seconds - a->seconds);
		out[k] = a->value[k] + (b->value[k] - a->value[k]) * part;
	}
}

/* The points of one metric in all runs, and the values of one curve. */
struct overlay_chart {
	const struct overlay *of;
	struct points points[OVERLAY_RUNS];
	size_t runs[OVERLAY_GROUPS]; /* number of runs with points, per group */
	double *times;               /* owned; sorted, distinct */
	size_t nr;
	double *low, *median, *high; /* owned; of the current group */
};

static void overlay_chart_done(struct overlay_chart *c)
{
	for (size_t i = 0; i < c->of->nr; i++)
		free(c->points[i].list);
	free(c->times);
	free(c->low);
	free(c->median);
	free(c->high);
}

/*
 * Stores the times of the points of runs that are alone in their group, and equidistant times for
 * other groups, at most as many as points.
 */
static size_t overlay_chart_put_times(struct overlay_chart *c)
{
	size_t n = 0, steps = 0;
	double last = 0;

	for (size_t i = 0; i < c->of->nr; i++) {
		const struct points *p = &c->points[i];
		bool is_alone = c->runs[c->of->run[i].group] == 1;

		for (size_t k = 0; is_alone && k < p->nr; k++)
			c->times[n++] = p->list[k].seconds;
		if (is_alone || !p->nr)
			continue;
		last = fmax(last, p->list[p->nr - 1].seconds);
		steps = p->nr > steps ? p->nr : steps;
	}
	steps = steps < BAND_POINTS ? steps : BAND_POINTS;
	for (size_t k = 0; steps && k <= steps; k++)
		c->times[n++] = last * (double)k / (double)steps;
	return n;
}

static int overlay_chart_merge_times(struct overlay_chart *c)
{
	size_t all = BAND_POINTS + 1, n;

	for (size_t i = 0; i < c->of->nr; i++)
		all += c->points[i].nr;
	c->times = memory_calloc(all, sizeof(*c->times));
	if (!c->times)
		return -ENOMEM;
	n = overlay_chart_put_times(c);
	stats_sort(c->times, n);
	for (size_t i = 0; i < n; i++)
		if (!c->nr || c->times[i] != c->times[c->nr - 1])
			c->times[c->nr++] = c->times[i];
	c->low = memory_calloc(c->nr + 1, sizeof(double));
	c->median = memory_calloc(c->nr + 1, sizeof(double));
	c->high = memory_calloc(c->nr + 1, sizeof(double));
	return c->low && c->median && c->high ? 0 : -ENOMEM;
}

static int overlay_chart_read(struct overlay_chart *c, const struct curve_place *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < c->of->nr; i++) {
		err = points_read(&c->of->run[i], p, &c->points[i]);
		c->runs[c->of->run[i].group] += c->points[i].nr > 0;
	}
	return err ? err : overlay_chart_merge_times(c);
}

/*
 * Computes median and quartiles of a group at each time, as long as at least half of its runs last;
 * of a run that is alone its mean and extremes.
 */
static void overlay_chart_measure(struct overlay_chart *c, size_t group)
{
	double v[OVERLAY_RUNS], one[NR_BUCKET_VALUES] = { 0 };

	for (size_t k = 0; k < c->nr; k++) {
		size_t n = 0;

		for (size_t i = 0; i < c->of->nr; i++) {
			if (c->of->run[i].group != group || !c->points[i].nr)
				continue;
			points_interpolate(&c->points[i], c->times[k], one);
			if (!isnan(one[BUCKET_MEAN]))
				v[n++] = one[BUCKET_MEAN];
		}
		stats_sort(v, n);
		c->low[k] = c->median[k] = c->high[k] = NAN;
		if (!n || n * 2 < c->runs[group])
			continue;
		c->median[k] = stats_quantile(v, n, 0.5);
		c->low[k] = c->runs[group] > 1 ? stats_quantile(v, n, 0.25) : one[BUCKET_LEAST];
		c->high[k] = c->runs[group] > 1 ? stats_quantile(v, n, 0.75) : one[BUCKET_MOST];
	}
}

/* Writes each value divided by @unit, with three decimals below 1000. */
static void values_put(struct jsonw *j, const char *key, const double *v, size_t nr, double unit)
{
	jsonw_array(j, key);
	for (size_t k = 0; k < nr; k++) {
		double one = v[k] / unit;

		jsonw_double(j, NULL, one < 1000 ? round(one * 1e3) / 1e3 : round(one));
	}
	jsonw_array_end(j);
}

/* Returns the letter that stands for a group in the document. */
static const char *group_key(char key[2], size_t group)
{
	key[0] = (char)('A' + group);
	key[1] = '\0';
	return key;
}

static void overlay_chart_write_curves(const struct overlay_chart *c, struct jsonw *j)
{
	char key[2];

	jsonw_array(j, "curves");
	for (size_t g = 0; g < OVERLAY_GROUPS; g++) {
		if (!c->runs[g])
			continue;
		jsonw_object(j, NULL);
		jsonw_string(j, "key", group_key(key, g));
		jsonw_uint(j, "group", g);
		jsonw_uint(j, "runs", c->runs[g]);
		jsonw_uint(j, "colour", g % NR_COLOURS + 1);
		jsonw_string(j, "style",
			     curve_style_name(g < NR_COLOURS ? CURVE_LINE : CURVE_DASHED));
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void overlay_chart_write_values(struct overlay_chart *c, double unit, bool has_extremes,
				       struct jsonw *j)
{
	struct jsonw bands = { 0 };
	char key[2];

	values_put(j, "time", c->times, c->nr, 1);
	jsonw_object(&bands, NULL);
	jsonw_object(j, "columns");
	for (size_t g = 0; g < OVERLAY_GROUPS; g++) {
		if (!c->runs[g])
			continue;
		overlay_chart_measure(c, g);
		values_put(j, group_key(key, g), c->median, c->nr, unit);
		if (c->runs[g] < 2 && !has_extremes)
			continue;
		jsonw_array(&bands, key);
		values_put(&bands, NULL, c->low, c->nr, unit);
		values_put(&bands, NULL, c->high, c->nr, unit);
		jsonw_array_end(&bands);
	}
	jsonw_object_end(j);
	jsonw_object_end(&bands);
	jsonw_raw(j, ",\"bands\":", strlen(",\"bands\":"));
	if (!bands.failed)
		jsonw_raw(j, bands.text, bands.used);
	j->failed |= bands.failed;
	jsonw_done(&bands);
}

/* Returns true if the curve is in the page of some run: a rare one only if it is not always 0. */
static bool overlay_has_curve(const struct overlay *o, const struct curve_place *p)
{
	const struct curve_spec *curve = &chart_specs[p->chart].curve[p->column];
	bool has = !curve->is_rare;

	for (size_t i = 0; !has && i < o->nr; i++)
		has = charts_has_curve(&o->run[i].charts, curve);
	return has;
}

static int overlay_write_chart(const struct overlay *o, size_t curve, struct jsonw *j)
{
	struct overlay_chart *c = memory_calloc(1, sizeof(*c));
	enum metric_id id = curves[curve].id;
	struct curve_place p;
	uint64_t each = 1;
	int err = 0;

	if (!c)
		return -ENOMEM;
	c->of = o;
	if (curve_find_place(id, &p) && overlay_has_curve(o, &p))
		err = overlay_chart_read(c, &p);
	/* only of runs that are alone: a median has no peaks */
	for (size_t i = 0; !err && i < o->nr; i++)
		if (c->runs[o->run[i].group] == 1 && o->run[i].charts.sampler[p.chart].each > each)
			each = o->run[i].charts.sampler[p.chart].each;
	if (!err && c->nr) {
		jsonw_object(j, metric_get(id)->key);
		jsonw_string(j, "title", curves[curve].title);
		jsonw_string(j, "what", curves[curve].what);
		jsonw_string(j, "unit", chart_unit_name(chart_specs[p.chart].unit));
		overlay_chart_write_curves(c, j);
		jsonw_uint(j, "each", each);
		overlay_chart_write_values(c, pow(10, metric_decimals(id)), each > 1, j);
		jsonw_object_end(j);
	}
	overlay_chart_done(c);
	free(c);
	return err;
}

/* Writes what distinguishes the runs: name, tags, start, host and command. */
static void overlay_write_runs(const struct overlay *o, struct jsonw *j)
{
	static const char *const shown[] = { "name", "tags", "start_time", "host", "command" };

	jsonw_array(j, "runs");
	for (size_t i = 0; i < o->nr; i++) {
		jsonw_object(j, NULL);
		jsonw_uint(j, "group", o->run[i].group);
		jsonw_string(j, "as", o->run[i].name);
		for (size_t k = 0; k < sizeof(shown) / sizeof(*shown); k++) {
			const json_t *v = json_object_get(o->run[i].meta, shown[k]);

			if (v)
				excerpt_write(j, shown[k], v, TEXT_SHOWN, 20);
		}
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void overlay_write_frame(const struct overlay *o, const struct jsonw *comparison,
				const struct jsonw *steps, size_t left_out, struct jsonw *j)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < o->nr; i++)
		samples += o->run[i].charts.sampler[0].rows;
	jsonw_string(j, "version", BPFMON_VERSION);
	overlay_write_runs(o, j);
	jsonw_uint(j, "left_out", left_out);
	jsonw_uint(j, "samples", samples);
	jsonw_raw(j, ",\"comparison\":", strlen(",\"comparison\":"));
	jsonw_raw(j, comparison->text, comparison->used);
	if (steps) {
		jsonw_raw(j, ",\"steps\":", strlen(",\"steps\":"));
		jsonw_raw(j, steps->text, steps->used);
	}
	/* needed by scripts that are shared with the page of a single run */
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

int overlay_write(const struct overlay *o, const struct jsonw *comparison,
		  const struct jsonw *steps, size_t left_out, struct jsonw *j)
{
	int err = comparison->failed || (steps && steps->failed) ? -ENOMEM : 0;

	jsonw_object(j, NULL);
	if (!err)
		overlay_write_frame(o, comparison, steps, left_out, j);
	jsonw_object(j, "charts");
	for (size_t i = 0; !err && i < NR_CURVES; i++)
		err = overlay_write_chart(o, i, j);
	jsonw_object_end(j);
	jsonw_object_end(j);
	return err ? err : j->failed ? -ENOMEM : 0;
}
