// SPDX-License-Identifier: BSD-2-Clause
#include "page/panel.h"

#include "base/memory.h"
#include "base/text.h"
#include "page/plot.h"
#include "page/charts.h"
#include "page/page_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAND 0.22 /* opacity, as in the page; of the total, which is over other curves, less */
#define BAND_OF_TOTAL 0.14

struct panel_curves {
	const struct report_charts *charts;
	const struct chart_spec *spec;
	struct downsampler_bucket *rows; /* owned; in the unit that is drawn, stacked */
	size_t nr;                       /* number of rows */
	uint64_t each;                   /* samples per row */
	double largest;
};

static bool curve_is_drawn(const struct report_charts *c, const struct curve_spec *curve)
{
	return curve->style != CURVE_HIDDEN && charts_has_curve(c, curve);
}

static bool curve_is_stacked(const struct panel_curves *v, unsigned k)
{
	return k < v->spec->nr && v->spec->curve[k].style == CURVE_STACKED;
}

/* Returns the number of columns, including the sum of stacked curves, which has only a band. */
static unsigned panel_columns(const struct panel_curves *v)
{
	return v->spec->nr + chart_has_sum(v->spec);
}

/* Converts a row to the unit that is drawn. The mean of a stacked curve includes those below it. */
static void panel_row_scale(const struct panel_curves *v, struct downsampler_bucket *row)
{
	double sum = 0;

	for (unsigned k = 0; k < panel_columns(v); k++) {
		const struct curve_spec *curve = &v->spec->curve[k < v->spec->nr ? k : 0];
		double *mean = &row->value[BUCKET_MEAN][k];

		for (int kind = 0; kind < NR_BUCKET_VALUES; kind++)
			row->value[kind][k] /= pow(10, metric_decimals(curve->id));
		if (curve_is_stacked(v, k) && curve_is_drawn(v->charts, curve) && !isnan(*mean))
			*mean = sum += *mean;
	}
}

static bool panel_has_column(const struct panel_curves *v, unsigned k)
{
	return k == v->spec->nr || curve_is_drawn(v->charts, &v->spec->curve[k]);
}

static double panel_find_largest(const struct panel_curves *v)
{
	double largest = 0;

	for (unsigned k = 0; k < panel_columns(v); k++)
		for (size_t i = 0; panel_has_column(v, k) && i < v->nr; i++)
			largest = fmax(largest, /* fmax() ignores NAN */
				       v->rows[i].value[curve_is_stacked(v, k) ? BUCKET_MEAN
									       : BUCKET_MOST][k]);
	return largest;
}

/*
 * Reads the curves of chart @i. @c must outlive @v. Returns 0 or -ENOMEM. The caller calls
 * panel_curves_done() in any case.
 */
static int panel_curves_make(struct panel_curves *v, const struct report_charts *c, size_t i)
{
	*v = (struct panel_curves){ .charts = c,
				    .spec = &chart_specs[i],
				    .each = c->sampler[i].each };
	v->rows = charts_get(c, i, &v->nr);
	if (!v->rows)
		return -ENOMEM;
	for (size_t k = 0; k < v->nr; k++)
		panel_row_scale(v, &v->rows[k]);
	v->largest = panel_find_largest(v);
	return 0;
}

static void panel_curves_done(struct panel_curves *v)
{
	free(v->rows);
}

struct panel_column {
	const struct panel_curves *of;
	unsigned k;
};

static double column_at(const void *context, size_t i, enum bucket_value kind)
{
	const struct panel_column *c = context;

	return c->of->rows[i].value[kind][c->k];
}

enum trace_part { TRACE_AREA, TRACE_BAND, TRACE_LINE };

static int panel_column_draw(FILE *f, const struct panel_curves *v, unsigned k,
			     const struct trace_scale *scale, enum trace_part part)
{
	const struct curve_spec total = { .colour = 0 };
	const struct curve_spec *curve = k < v->spec->nr ? &v->spec->curve[k] : &total;
	const struct panel_column column = { v, k };
	struct trace t;
	int err = trace_make(&t, scale, v->rows, v->nr, column_at, &column);

	if (part == TRACE_AREA) {
		fprintf(f, "<path fill=\"%s\" d=\"", colour_light(COLOUR_FILL + curve->colour));
		trace_write_area(f, &t, scale->bottom);
	} else if (part == TRACE_BAND) {
		fprintf(f, "<path fill=\"%s\" fill-opacity=\"%g\" d=\"",
			colour_light(COLOUR_SERIES + curve->colour),
			curve->colour ? BAND : BAND_OF_TOTAL);
		trace_write_band(f, &t);
	} else {
		fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"",
			colour_light(COLOUR_SERIES + curve->colour),
			curve->style == CURVE_STACKED ? "0.5" : "1.25",
			curve->style == CURVE_DASHED ? " stroke-dasharray=\"4 2\"" : "");
		trace_write_line(f, &t);
	}
	fputs("\"/>\n", f);
	trace_done(&t);
	return err;
}

/*
 * @wall and @top are the ends of the axes. Stacked areas are drawn from the top down: each covers
 * the previous one except for its share. Bands are drawn over them, below the lines.
 */
static int panel_curves_draw(FILE *f, const struct panel_curves *v, const struct plot *b,
			     double wall, double top)
{
	const struct trace_scale scale = { .left = PLOT_LEFT,
					   .bottom = b->bottom,
					   .x_per_second = b->width / wall,
					   .y_per_unit = b->height / top,
					   .each = (double)v->each };
	const unsigned nr = panel_columns(v);
	int err = 0;

	for (unsigned k = v->spec->nr; !err && k-- > 0;) {
		if (!curve_is_stacked(v, k) || !panel_has_column(v, k))
			continue;
		err = panel_column_draw(f, v, k, &scale, TRACE_AREA);
		if (!err)
			err = panel_column_draw(f, v, k, &scale, TRACE_LINE);
	}
	for (unsigned k = 0; !err && (v->each > 1 || b->width < (double)v->nr) && k < nr; k++)
		if (!curve_is_stacked(v, k) && panel_has_column(v, k))
			err = panel_column_draw(f, v, k, &scale, TRACE_BAND);
	for (unsigned k = 0; !err && k < v->spec->nr; k++)
		if (!curve_is_stacked(v, k) && panel_has_column(v, k))
			err = panel_column_draw(f, v, k, &scale, TRACE_LINE);
	return err;
}

#define LEGEND_LINE 14 /* pixels */

static double legend_width(const char *label)
{
	return 16 + CHARACTER_WIDTH * (double)strlen(label) + 12;
}

/* Places the entries of the legend. Returns the number of lines they need. */
static unsigned legend_place(const struct report_charts *c, const struct chart_spec *spec,
			     double width, double *x, unsigned *line)
{
	double at = 0;
	unsigned n = 0;

	for (unsigned k = 0; k < spec->nr; k++) {
		double needs = legend_width(spec->curve[k].label);

		if (!curve_is_drawn(c, &spec->curve[k]))
			continue;
		if (at > 0 && at + needs - 12 > width) {
			at = 0;
			n++;
		}
		x[k] = PLOT_LEFT + at;
		line[k] = n;
		at += needs;
	}
	return n + 1;
}

static unsigned legend_lines(const struct report_charts *c, const struct chart_spec *spec,
			     double width)
{
	double x[DOWNSAMPLER_COLUMNS];
	unsigned line[DOWNSAMPLER_COLUMNS];

	return legend_place(c, spec, width, x, line);
}

static void legend_draw(FILE *f, const struct plot *b, const struct report_charts *c,
			const struct chart_spec *spec)
{
	double x[DOWNSAMPLER_COLUMNS] = { 0 };
	unsigned line[DOWNSAMPLER_COLUMNS] = { 0 };

	legend_place(c, spec, b->width, x, line);
	for (unsigned k = 0; k < spec->nr; k++) {
		const struct curve_spec *curve = &spec->curve[k];
		bool fills_area = curve->style == CURVE_STACKED;
		double y;

		if (!curve_is_drawn(c, curve))
			continue;
		y = 31.5 + line[k] * LEGEND_LINE;
		if (fills_area)
			fprintf(f,
				"<rect x=\"%.1f\" y=\"%.0f\" width=\"12\" height=\"9\" fill=\"%s\"",
				x[k], floor(y - 4), colour_light(COLOUR_FILL + curve->colour));
		else
			fprintf(f, "<path d=\"M%.1f %.1fh12\" stroke-width=\"2\"%s", x[k], y,
				curve->style == CURVE_DASHED ? " stroke-dasharray=\"4 2\"" : "");
		fprintf(f, " stroke=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">",
			colour_light(COLOUR_SERIES + curve->colour), x[k] + 16, y + 4);
		xml_write(f, curve->label, 40);
		fputs("</text>\n", f);
	}
}

#define MOST_LIMITS 3

struct panel_limit {
	const char *name;     /* static, such as "limit" */
	char text[AXIS_TEXT]; /* such as "1 GiB" */
	double value;
};

/* Where lines and names of limits are drawn. */
struct limit_place {
	double left, right, top, bottom; /* of the plot */
	double y_per_unit;
};

/* Limits of the run and of the machine, as lines of a chart. */

#define NAME_HEIGHT 23  /* two lines: name and value */
#define NAME_DISTANCE 8 /* from the plot */
#define TEXT_ABOVE 10   /* from base line, for a text of 11 px */
#define TEXT_BELOW 3
#define NEAR 1.6 /* as in the page: draw limits up to this multiple of the largest value */

static double limit_number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void limit_add(struct panel_limit *list, unsigned *nr, const char *name, double value)
{
	if (value > 0)
		list[(*nr)++] = (struct panel_limit){ .name = name, .value = value };
}

static unsigned limits_of_cpu(struct panel_limit *list, const json_t *limits, double cpus)
{
	double allowed = limit_number(limits, "cpus_allowed_count");
	unsigned nr = 0;

	limit_add(list, &nr, "limit", limit_number(limits, "cpu_max_cores"));
	limit_add(list, &nr, "allowed", allowed < cpus ? allowed : 0);
	limit_add(list, &nr, "machine", cpus);
	return nr;
}

static unsigned limits_of_memory(struct panel_limit *list, const struct report_run *r,
				 const json_t *limits)
{
	double killed_at = limit_number(json_object_get(r->summary, "oom"), "limit_bytes");
	unsigned nr = 0;

	limit_add(list, &nr, "limit",
		  killed_at > 0 ? killed_at : limit_number(limits, "memory_max_bytes"));
	limit_add(list, &nr, "throttled", limit_number(limits, "memory_high_bytes"));
	limit_add(list, &nr, "machine",
		  limit_number(json_object_get(r->meta, "system"), "memory_bytes"));
	return nr;
}

static int limit_compare(const void *a, const void *b)
{
	const struct panel_limit *x = a, *y = b;

	return x->value < y->value ? 1 : x->value > y->value ? -1 : 0;
}

/*
 * Finds the limits of chart @i that are near @largest, its highest value, so that they do not
 * flatten its curves. The lowest CPU limit is always included. Returns their number; the highest is
 * the first.
 */
static unsigned limits_find(struct panel_limit list[MOST_LIMITS], const struct report_run *r,
			    size_t i, double largest)
{
	const json_t *limits = json_object_get(r->meta, "limits");
	enum chart_unit unit = chart_specs[i].unit;
	unsigned nr = 0, kept = 0;
	double least = INFINITY;

	if (unit == CHART_CORES)
		nr = limits_of_cpu(list, limits,
				   limit_number(json_object_get(r->meta, "system"), "cpus"));
	else if (unit == CHART_MEMORY)
		nr = limits_of_memory(list, r, limits);
	for (unsigned k = 0; k < nr; k++)
		least = fmin(least, list[k].value);
	for (unsigned k = 0; k < nr; k++) {
		bool is_least = unit == CHART_CORES && list[k].value <= least;

		if (!is_least && list[k].value > largest * NEAR)
			continue;
		list[kept] = list[k];
		axis_format_value(list[kept].text, unit, list[kept].value);
		if (unit == CHART_CORES)
			strncat(list[kept].text, list[kept].value == 1 ? " core" : " cores",
				AXIS_TEXT - strlen(list[kept].text) - 1);
		kept++;
	}
	qsort(list, kept, sizeof(*list), limit_compare);
	return kept;
}

static double limit_y(const struct panel_limit *limit, const struct limit_place *p)
{
	return p->bottom - limit->value * p->y_per_unit;
}

/*
 * Draws dotted lines. Names stand beside the plot, so that they cover no curve, and are moved down
 * to avoid overlaps.
 */
static void limits_draw(FILE *f, const struct panel_limit *list, unsigned nr,
			const struct limit_place *p)
{
	double free_from = p->top - TEXT_BELOW, x = p->right + NAME_DISTANCE;

	for (unsigned i = 0; i < nr; i++) {
		double y = limit_y(&list[i], p), name = fmax(y - TEXT_BELOW - 1, free_from);

		fprintf(f,
			"<path d=\"M%.0f %.1fH%.0f\" stroke=\"%s\" stroke-dasharray=\"1 4\"/>\n"
			"<text x=\"%.1f\" y=\"%.1f\" font-size=\"10\">%s <tspan x=\"%.1f\" "
			"dy=\"11\">%s</tspan></text>\n",
			p->left, y, p->right + NAME_DISTANCE / 2.0, colour_light(COLOUR_SERIES), x,
			name + TEXT_ABOVE - TEXT_BELOW, list[i].name, x, list[i].text);
		free_from = name + NAME_HEIGHT;
	}
}

/* Returns the base line @y of a text, moved up if lines of limits would cross it. */
static double limits_lift_text(const struct panel_limit *list, unsigned nr,
			       const struct limit_place *p, double y)
{
	for (unsigned i = nr; i-- > 0;) {
		double line = limit_y(&list[i], p);

		if (line > y - TEXT_ABOVE && line < y + TEXT_BELOW)
			y = line - TEXT_BELOW - 1;
	}
	return y;
}

#define RIGHT 14
#define RIGHT_OF_LIMITS 54 /* for their names */
#define ABOVE 54           /* title, a line of the legend, labels of marks */
#define BELOW 44
#define HEADROOM 1.12
#define LIMIT_ROOM 16 /* for a label above the line or the dot */
#define POINT_ROOM 19
#define LABEL_MAX 28
#define POINT_MAX 64

/* Writes a text centred at @x, within the edges of the chart. */
static void panel_put_label(FILE *f, const struct plot *b, double x, double y, const char *colour,
			    const char *text)
{
	double half = CHARACTER_WIDTH * fmin((double)strlen(text), POINT_MAX) / 2;

	x = fmax(PLOT_LEFT + half, fmin(x, PLOT_LEFT + b->width - half));
	fprintf(f,
		"<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" text-anchor=\"middle\" stroke=\"#fff\" "
		"stroke-width=\"3\" paint-order=\"stroke\">",
		x, y, colour);
	xml_write(f, text, POINT_MAX);
	fputs("</text>\n", f);
}

/* Draws a line per mark. A text that would overlap the previous one is omitted. */
static void panel_put_marks(FILE *f, const struct panel *p, const struct plot *b)
{
	double free_from = 0;

	for (size_t i = 0; i < p->nr_marks; i++) {
		const struct panel_mark *m = &p->marks[i];
		double x = PLOT_LEFT + m->seconds / p->wall * b->width;
		const char *colour =
			colour_light(m->style == MARK_SEVERE ? COLOUR_BAD : COLOUR_QUIET);
		bool has_name = m->is_named && p->bands->has_phases;

		if (m->seconds < 0 || m->seconds > p->wall)
			continue;
		fprintf(f,
			"<path d=\"M%.1f %.0fv%.0f\" stroke=\"%s\" stroke-dasharray=\"3 3\"%s/>\n",
			x, b->top, b->height, colour, has_name ? " stroke-opacity=\".45\"" : "");
		if (x < free_from || x > PLOT_LEFT + b->width - 30 || has_name)
			continue;
		fprintf(f, "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\" font-size=\"10\">", x + 3,
			b->top - 4 - bands_height(p->bands), colour);
		free_from = x + 8 + CHARACTER_WIDTH * (double)xml_write(f, m->text, LABEL_MAX);
		fputs("</text>\n", f);
	}
}

static struct limit_place panel_limit_place(const struct plot *b, double top)
{
	return (struct limit_place){ .left = PLOT_LEFT,
				     .right = PLOT_LEFT + b->width,
				     .top = b->top,
				     .bottom = b->bottom,
				     .y_per_unit = b->height / top };
}

/* Draws the dot with its label, which no line of a limit crosses. */
static void panel_put_point(FILE *f, const struct panel *p, const struct plot *b, double top,
			    const struct panel_limit *limits, unsigned nr)
{
	const struct limit_place place = panel_limit_place(b, top);
	double x = PLOT_LEFT + p->point_seconds / p->wall * b->width;
	double y = b->bottom - p->point / top * b->height;

	if (!(p->point > 0))
		return;
	fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y,
		colour_light(COLOUR_SERIES));
	panel_put_label(f, b, x, limits_lift_text(limits, nr, &place, y - 6),
			colour_light(COLOUR_SERIES), p->point_text);
}

/* The quantity of the axis is omitted if there is no room: legend and ticks show most of it. */
static void panel_put_title(FILE *f, const struct plot *b, const struct chart_spec *spec)
{
	double needs = CHARACTER_WIDTH * (double)(strlen(spec->title) * 1.25 + strlen(spec->what));

	fprintf(f,
		"<text x=\"%d\" y=\"16\" font-size=\"13\" fill=\"%s\"><tspan "
		"font-weight=\"600\">%s</tspan> <tspan fill=\"%s\" font-size=\"11\">%s</tspan>"
		"</text>\n",
		PLOT_LEFT, colour_light(COLOUR_TEXT), spec->title, colour_light(COLOUR_QUIET),
		needs < b->width ? spec->what : "");
}

/* Returns the value at the upper edge, with room for the labels of dot and limits. */
static double panel_find_top(const struct panel *p, const struct plot *b, double largest,
			     const struct panel_limit *limits, unsigned nr)
{
	double top = fmax(largest, p->point) * HEADROOM;

	for (unsigned i = 0; i < nr; i++)
		top = fmax(top, limits[i].value * b->height / (b->height - LIMIT_ROOM));
	top = fmax(top, p->point * b->height / (b->height - POINT_ROOM));
	return top > 0 ? top : 1;
}

struct panel_content {
	struct panel_curves curves;
	double largest; /* including the dot */
	struct panel_limit limits[MOST_LIMITS];
	unsigned nr_limits;
};

static int panel_content_make(struct panel_content *v, const struct panel *p,
			      const struct report_run *r, size_t i)
{
	int err = panel_curves_make(&v->curves, &r->charts, i);

	if (err)
		return err;
	v->largest = fmax(v->curves.largest, p->point);
	v->nr_limits = limits_find(v->limits, r, i, v->largest);
	return 0;
}

static struct plot panel_find_plot(const struct panel *p, const struct panel_content *v)
{
	struct plot b = { .width = p->width - PLOT_LEFT -
				   (p->has_limits ? RIGHT_OF_LIMITS : RIGHT) };
	unsigned lines = legend_lines(v->curves.charts, v->curves.spec, b.width);

	b.top = ABOVE + (lines - 1) * LEGEND_LINE + bands_height(p->bands);
	b.bottom = p->height - BELOW;
	b.height = b.bottom - b.top;
	return b;
}

/* Draws a strip below the axis where samples are missing. */
static void panel_put_missing(FILE *f, const struct panel *p, const struct plot *b)
{
	const double per_second = b->width / p->wall;

	if (!p->missing->nr)
		return;
	fprintf(f, "<path stroke=\"%s\" stroke-width=\"2\" stroke-linecap=\"butt\" d=\"",
		colour_light(COLOUR_QUIET));
	for (size_t i = 0; i < p->missing->nr; i++) {
		const struct missing_part *part = &p->missing->list[i];

		fprintf(f, "M%.1f %.1fh%.1f", PLOT_LEFT + part->from * per_second, b->bottom + 2,
			fmax(0.5, (part->to - part->from) * per_second));
	}
	fputs("\"/>\n", f);
}

static void panel_put_spells(FILE *f, const struct panel *p, const struct plot *b)
{
	for (size_t i = 0; i < p->nr_spells; i++) {
		const double start = fmax(0, p->spells[i].start) / p->wall * b->width,
			     end = fmin(p->wall, p->spells[i].end) / p->wall * b->width;

		fprintf(f,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
			"fill=\"%s\"/>\n",
			PLOT_LEFT + start, b->top, fmax(0, end - start), b->height,
			colour_light(COLOUR_WARN_GROUND));
	}
}

static void panel_put_bands(FILE *f, const struct panel *p, const struct plot *b)
{
	const struct band_place place = { .left = PLOT_LEFT,
					  .width = b->width,
					  .wall = p->wall,
					  .lanes_top = b->top - bands_height(p->bands),
					  .plot_top = b->top,
					  .plot_height = b->height };

	bands_write(f, p->bands, &place);
}

static int panel_put(FILE *f, const struct panel *p, const struct panel_content *v)
{
	const struct plot b = panel_find_plot(p, v);
	double top = panel_find_top(p, &b, v->largest, v->limits, v->nr_limits);
	const struct limit_place place = panel_limit_place(&b, top);
	int err;

	fprintf(f, "<g transform=\"translate(%.0f %.0f)\">\n", p->x, p->y);
	panel_put_title(f, &b, v->curves.spec);
	legend_draw(f, &b, v->curves.charts, v->curves.spec);
	panel_put_spells(f, p, &b);
	panel_put_bands(f, p, &b);
	axis_draw_values(f, &b, v->curves.spec->unit, top);
	axis_draw_time(f, &b, p->wall);
	err = panel_curves_draw(f, &v->curves, &b, p->wall, top);
	panel_put_missing(f, p, &b);
	limits_draw(f, v->limits, v->nr_limits, &place);
	panel_put_marks(f, p, &b);
	panel_put_point(f, p, &b, top, v->limits, v->nr_limits);
	fputs("</g>\n", f);
	return err;
}

bool panel_has_limits(const struct panel *p, const struct report_run *r, size_t i)
{
	struct panel_content v;
	bool has = !panel_content_make(&v, p, r, i) && v.nr_limits;

	panel_curves_done(&v.curves);
	return has;
}

int panel_write(FILE *f, const struct panel *p, const struct report_run *r, size_t i)
{
	struct panel_content v;
	int err = panel_content_make(&v, p, r, i);

	if (!err)
		err = panel_put(f, p, &v);
	panel_curves_done(&v.curves);
	return err;
}
