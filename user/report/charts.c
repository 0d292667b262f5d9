// SPDX-License-Identifier: BSD-2-Clause
#include "report/charts.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "model/cores.h"

#include <errno.h>
#include <math.h>

#define MAX_RATE 1e15 /* per second, of any metric: a larger one is drawn as this */

int charts_init(struct report_charts *c)
{
	*c = (struct report_charts){ 0 };
	for (size_t i = 0; i < NR_CHARTS; i++)
		if (downsampler_init(&c->sampler[i], chart_specs[i].nr, CHART_ROOM))
			return -ENOMEM;
	return 0;
}

void charts_done(struct report_charts *c)
{
	for (size_t i = 0; i < NR_CHARTS; i++)
		downsampler_done(&c->sampler[i]);
}

void charts_add_metrics(struct metric_set *set)
{
	for (size_t i = 0; i < NR_CHARTS; i++)
		for (unsigned k = 0; k < chart_specs[i].nr; k++)
			metric_put(set, chart_specs[i].curve[k].id);
}

static bool metric_is_rate(enum metric_id id)
{
	return metric_get(id)->kind == KIND_COUNTER;
}

static bool interval_is_too_short(const struct report_charts *c, const struct sample *s,
				  enum metric_id id)
{
	if (id != M_cores && metric_get(id)->unit != UNIT_NS)
		return false;
	return s->elapsed_ns - c->last_elapsed_ns < SHORTEST_FOR_CORES;
}

/* In stored units per second. */
static double column_rate(const struct report_charts *c, const struct sample *s, enum metric_id id)
{
	double per_second;

	if (!sample_has(s, id) || !c->has_last || !metric_has(&c->last_have, id) ||
	    s->value[id] < c->last[id] || s->elapsed_ns <= c->last_elapsed_ns)
		return NAN;
	per_second = 1e9 / (double)(s->elapsed_ns - c->last_elapsed_ns);
	return (double)(s->value[id] - c->last[id]) * per_second;
}

/* User and system time together are scaled down to the cores in use, which a machine bounds. */
static double rate_limit_to_cores(const struct report_charts *c, const struct sample *s,
				  double rate)
{
	double whole = column_rate(c, s, M_user) + column_rate(c, s, M_system);
	double cores = (double)s->value[M_cores] * 1e6; /* thousandths -> ns per second */

	return sample_has(s, M_cores) && whole > cores ? rate * (cores / whole) : rate;
}

/* In stored units (of a rate: per second). */
static double column_value(const struct report_charts *c, const struct sample *s, enum metric_id id)
{
	double value;

	if (!sample_has(s, id) || interval_is_too_short(c, s, id))
		return NAN;
	value = metric_is_rate(id) ? column_rate(c, s, id) : (double)s->value[id];
	return id == M_user || id == M_system ? rate_limit_to_cores(c, s, value) : value;
}

void charts_add(struct report_charts *c, const struct sample *s)
{
	if (c->has_last && s->elapsed_ns <= c->last_elapsed_ns)
		return; /* no run has two samples of one time */
	for (size_t i = 0; i < NR_CHARTS; i++) {
		struct downsampler_row row = { .seconds = (double)s->elapsed_ns / 1e9 };

		for (unsigned k = 0; k < chart_specs[i].nr; k++)
			row.value[k] = column_value(c, s, chart_specs[i].curve[k].id);
		downsampler_add(&c->sampler[i], &row);
	}
	for (int i = 0; i < NR_METRICS; i++) {
		c->last[i] = s->value[i];
		if (sample_has(s, (enum metric_id)i))
			metric_put(s->value[i] ? &c->above_zero : &c->seen, (enum metric_id)i);
	}
	c->last_have = s->have;
	c->last_elapsed_ns = s->elapsed_ns;
	c->has_last = true;
}

static void column_put_value(struct jsonw *j, enum metric_id id, double v)
{
	unsigned decimals = metric_decimals(id), kept;

	if (isnan(v)) {
		jsonw_null(j, NULL);
	} else if (!metric_is_rate(id)) {
		jsonw_decimal(j, NULL, number_clamp(floor(v)), decimals);
	} else {
		v /= pow(10, decimals);
		kept = v >= 1000 ? 0 : decimals ? 6 : 3;
		jsonw_decimal(j, NULL, number_clamp(fmin(v, MAX_RATE) * pow(10, kept)), kept);
	}
}

bool charts_has_curve(const struct report_charts *c, const struct curve_spec *curve)
{
	return metric_has(&c->above_zero, curve->id) ||
	       (!curve->is_rare && metric_has(&c->seen, curve->id));
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

static void chart_write_columns(const struct report_charts *c, const struct chart_spec *spec,
				const struct downsampler_row *rows, size_t nr, struct jsonw *j)
{
	jsonw_object(j, "columns");
	for (unsigned k = 0; k < spec->nr; k++) {
		if (!charts_has_curve(c, &spec->curve[k]))
			continue;
		jsonw_array(j, metric_get(spec->curve[k].id)->key);
		for (size_t i = 0; i < nr; i++)
			column_put_value(j, spec->curve[k].id, rows[i].value[k]);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

static int chart_write(const struct report_charts *c, size_t i, struct jsonw *j)
{
	size_t nr;
	__cleanup(freep) struct downsampler_row *rows = downsampler_get_rows(&c->sampler[i], &nr);

	if (!rows)
		return -ENOMEM;
	jsonw_object(j, chart_specs[i].name);
	chart_write_spec(c, &chart_specs[i], j);
	jsonw_uint(j, "samples", c->sampler[i].rows);
	jsonw_uint(j, "each", c->sampler[i].each);
	jsonw_array(j, "time");
	for (size_t k = 0; k < nr; k++)
		jsonw_decimal(j, NULL, number_clamp(rows[k].seconds * 1e6), 6);
	jsonw_array_end(j);
	chart_write_columns(c, &chart_specs[i], rows, nr, j);
	jsonw_object_end(j);
	return 0;
}

int charts_write(const struct report_charts *c, struct jsonw *j)
{
	int err = 0;

	jsonw_object(j, "charts");
	for (size_t i = 0; !err && i < NR_CHARTS; i++)
		err = chart_write(c, i, j);
	jsonw_object_end(j);
	return err;
}
