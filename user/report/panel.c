// SPDX-License-Identifier: BSD-2-Clause
#include "report/panel.h"

#include "report/axis.h"
#include "report/colours.h"
#include "report/limits.h"
#include "report/trace.h"
#include "base/xml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 68
#define RIGHT 14
#define RIGHT_OF_LIMITS 54 /* for their names */
#define LIMIT_NAME 21      /* the height of one: a line with its name, and its value */
#define ABOVE 54           /* title, a line of the legend, labels of marks */
#define BELOW 44
#define LEGEND_LINE 14
#define TICK_WIDTH 58 /* for the time at a tick */
#define TICK_HEIGHT 24
#define HEADROOM 1.12
#define LIMIT_ROOM 16 /* for a label above the line or the dot */
#define POINT_ROOM 19
#define CHARACTER 6.7 /* the width of one, about, at 11 px */
#define LABEL_MAX 28
#define POINT_MAX 64

/* Where the curves are, within the panel. */
struct plot {
	double width, top, height, bottom;
};

static double curve_to_drawn_unit(const struct curve_spec *curve, double stored)
{
	return stored / pow(10, metric_decimals(curve->id));
}

static bool curve_is_drawn(const struct report_charts *c, const struct curve_spec *curve)
{
	return curve->style != CURVE_HIDDEN && charts_has_curve(c, curve);
}

/*
 * The heights of all curves, one after the other, at each of @nr rows: of a stacked curve the sum
 * up to it. Owned by the caller, NULL without memory.
 */
static double *panel_compute_heights(const struct report_charts *c, const struct chart_spec *spec,
				     const struct downsampler_row *rows, size_t nr)
{
	double *all = calloc((spec->nr + 1) * (nr + 1), sizeof(*all));

	for (size_t i = 0; all && i < nr; i++) {
		double sum = 0;

		for (unsigned k = 0; k < spec->nr; k++) {
			const struct curve_spec *curve = &spec->curve[k];
			double v = curve_to_drawn_unit(curve, rows[i].value[k]);

			if (curve->style == CURVE_STACKED && curve_is_drawn(c, curve) && !isnan(v))
				v = sum += v;
			all[k * nr + i] = v;
		}
	}
	return all;
}

static double panel_find_largest(const struct report_charts *c, const struct chart_spec *spec,
				 const double *all, size_t nr)
{
	double largest = 0;

	for (unsigned k = 0; k < spec->nr; k++)
		for (size_t i = 0; curve_is_drawn(c, &spec->curve[k]) && i < nr; i++)
			largest = fmax(largest, all[k * nr + i]); /* fmax() ignores a NAN */
	return largest;
}

static void panel_put_value_axis(FILE *f, const struct plot *b, const struct chart_spec *spec,
				 double top)
{
	double step =
		axis_step(spec->unit, top, (unsigned)fmax(2, fmin(5, b->height / TICK_HEIGHT)));
	char text[AXIS_TEXT];

	for (unsigned i = 0; i * step <= top * (1 + 1e-9); i++) {
		double v = i * step, y = b->bottom - v / top * b->height;

		fprintf(f,
			"<path d=\"M%d %.1fh%.0f\" stroke=\"%s\"/>"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			LEFT, y, b->width, v > 0 ? "#e4e8eb" : "#5a6670", LEFT - 6, y + 3.5,
			axis_format_value(text, spec->unit, v));
	}
}

static void panel_put_time_axis(FILE *f, const struct plot *b, double wall)
{
	double step = axis_time_step(wall, (unsigned)fmax(2, fmin(7, b->width / TICK_WIDTH)));
	char text[AXIS_TEXT];

	for (unsigned i = 0; i * step <= wall * (1 + 1e-9); i++) {
		double t = i * step, x = LEFT + t / wall * b->width;

		fprintf(f,
			"<path d=\"M%.1f %.0fv4\" stroke=\"#5a6670\"/>"
			"<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
			x, b->bottom, x, b->bottom + 16, axis_format_time(text, t, step, wall));
	}
	fprintf(f,
		"<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">time since the start "
		"[%s]</text>\n",
		LEFT + b->width / 2, b->bottom + 31, axis_time_unit(wall));
}

static double legend_width(const char *label)
{
	return 16 + CHARACTER * (double)strlen(label) + 12;
}

/* The columns of the entries that have room in a line; returns how many lines they need. */
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
		x[k] = LEFT + at;
		line[k] = n;
		at += needs;
	}
	return n + 1;
}

static void panel_put_legend(FILE *f, const struct plot *b, const struct report_charts *c,
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
				x[k], floor(y - 4), fill_colours[curve->colour]);
		else
			fprintf(f, "<path d=\"M%.1f %.1fh12\" stroke-width=\"2\"%s", x[k], y,
				curve->style == CURVE_DASHED ? " stroke-dasharray=\"4 2\"" : "");
		fprintf(f, " stroke=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">",
			line_colours[curve->colour], x[k] + 16, y + 4);
		xml_write(f, curve->label, 40);
		fputs("</text>\n", f);
	}
}

static void panel_put_curve(FILE *f, const struct panel *p, const struct plot *b,
			    const struct curve_spec *curve, double top,
			    const struct downsampler_row *rows, const double *y, size_t nr)
{
	const struct trace_scale scale = { .left = LEFT,
					   .bottom = b->bottom,
					   .x_per_second = b->width / p->wall,
					   .y_per_unit = b->height / top };

	if (curve->style == CURVE_STACKED) {
		fprintf(f, "<path fill=\"%s\" d=\"", fill_colours[curve->colour]);
		trace_write(f, &scale, rows, y, nr, true);
		fputs("\"/>\n", f);
	}
	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"",
		line_colours[curve->colour], curve->style == CURVE_STACKED ? "0.5" : "1.25",
		curve->style == CURVE_DASHED ? " stroke-dasharray=\"4 2\"" : "");
	trace_write(f, &scale, rows, y, nr, false);
	fputs("\"/>\n", f);
}

/* Stacked areas are drawn from the top down: each covers all but its share of the previous one. */
static void panel_put_curves(FILE *f, const struct panel *p, const struct plot *b,
			     const struct report_charts *c, const struct chart_spec *spec,
			     double top, const struct downsampler_row *rows, const double *all,
			     size_t nr)
{
	for (unsigned k = spec->nr; k-- > 0;)
		if (spec->curve[k].style == CURVE_STACKED && curve_is_drawn(c, &spec->curve[k]))
			panel_put_curve(f, p, b, &spec->curve[k], top, rows, all + k * nr, nr);
	for (unsigned k = 0; k < spec->nr; k++)
		if (spec->curve[k].style != CURVE_STACKED && curve_is_drawn(c, &spec->curve[k]))
			panel_put_curve(f, p, b, &spec->curve[k], top, rows, all + k * nr, nr);
}

/* A text centred at @x, or as near to it as the edges of the chart allow. */
static void panel_put_label(FILE *f, const struct plot *b, double x, double y, const char *colour,
			    const char *text)
{
	double half = CHARACTER * fmin((double)strlen(text), POINT_MAX) / 2;

	x = fmax(LEFT + half, fmin(x, LEFT + b->width - half));
	fprintf(f,
		"<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" text-anchor=\"middle\" stroke=\"#fff\" "
		"stroke-width=\"3\" paint-order=\"stroke\">",
		x, y, colour);
	xml_write(f, text, POINT_MAX);
	fputs("</text>\n", f);
}

/* Each mark has a line; a text that would overlap the previous one is left out. */
static void panel_put_marks(FILE *f, const struct panel *p, const struct plot *b)
{
	double free_from = 0;

	for (size_t i = 0; i < p->nr_marks; i++) {
		const struct panel_mark *m = &p->marks[i];
		double x = LEFT + m->seconds / p->wall * b->width;
		const char *colour = m->style == MARK_SEVERE ? "#b3261e" : "#5a6670";
		bool has_name = m->is_named && p->bands->has_phases;

		if (m->seconds < 0 || m->seconds > p->wall)
			continue;
		fprintf(f,
			"<path d=\"M%.1f %.0fv%.0f\" stroke=\"%s\" stroke-dasharray=\"3 3\"%s/>\n",
			x, b->top, b->height, colour, has_name ? " stroke-opacity=\".45\"" : "");
		if (x < free_from || x > LEFT + b->width - 30 || has_name)
			continue;
		fprintf(f, "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\" font-size=\"10\">", x + 3,
			b->top - 4 - bands_height(p->bands), colour);
		free_from = x + 8 + CHARACTER * (double)xml_write(f, m->text, LABEL_MAX);
		fputs("</text>\n", f);
	}
}

static struct limit_place panel_limit_place(const struct plot *b, double top)
{
	return (struct limit_place){ .left = LEFT,
				     .right = LEFT + b->width,
				     .top = b->top,
				     .bottom = b->bottom,
				     .y_per_unit = b->height / top };
}

/* The value of @p with its label, which no line of a limit crosses. */
static void panel_put_point(FILE *f, const struct panel *p, const struct plot *b, double top,
			    const struct panel_limit *limits, unsigned nr)
{
	const struct limit_place place = panel_limit_place(b, top);
	double x = LEFT + p->point_seconds / p->wall * b->width;
	double y = b->bottom - p->point / top * b->height;

	if (!(p->point > 0))
		return;
	fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#20262b\"/>\n", x, y);
	panel_put_label(f, b, x, limits_lift_text(limits, nr, &place, y - 6), "#20262b",
			p->point_text);
}

/* What the axis counts goes where there is no room for it: the legend and the ticks say most of it.
 */
static void panel_put_title(FILE *f, const struct plot *b, const struct chart_spec *spec)
{
	double needs = CHARACTER * (double)(strlen(spec->title) * 1.25 + strlen(spec->what));

	fprintf(f,
		"<text x=\"%d\" y=\"16\" font-size=\"13\" fill=\"#1b2126\"><tspan "
		"font-weight=\"600\">%s</tspan> <tspan fill=\"#5a6670\" font-size=\"11\">%s</tspan>"
		"</text>\n",
		LEFT, spec->title, needs < b->width ? spec->what : "");
}

/* The value at the upper edge: above the peak there is room for its label. */
static double panel_find_top(const struct panel *p, const struct plot *b, double largest,
			     const struct panel_limit *limits, unsigned nr)
{
	double top = fmax(largest, p->point) * HEADROOM;

	for (unsigned i = 0; i < nr; i++)
		top = fmax(top, limits[i].value * b->height / (b->height - LIMIT_ROOM));
	top = fmax(top, p->point * b->height / (b->height - POINT_ROOM));
	return top > 0 ? top : 1;
}

/* A panel whose curves are known. */
struct panel_curves {
	const struct report_charts *charts;
	const struct chart_spec *spec;
	struct downsampler_row *rows; /* owned */
	double *heights;              /* owned */
	size_t nr;
	double largest; /* with the peak */
	struct panel_limit limits[MOST_LIMITS];
	unsigned nr_limits;
};

static int panel_curves_make(struct panel_curves *v, const struct panel *p,
			     const struct report_run *r, size_t i)
{
	*v = (struct panel_curves){ .charts = &r->charts, .spec = &chart_specs[i] };
	v->rows = charts_get_rows(&r->charts, i, &v->nr);
	v->heights = v->rows ? panel_compute_heights(v->charts, v->spec, v->rows, v->nr) : NULL;
	if (!v->heights)
		return -ENOMEM;
	v->largest = fmax(panel_find_largest(v->charts, v->spec, v->heights, v->nr), p->point);
	v->nr_limits = limits_find(v->limits, r, i, v->largest);
	return 0;
}

static void panel_curves_done(struct panel_curves *v)
{
	free(v->rows);
	free(v->heights);
}

static struct plot panel_find_plot(const struct panel *p, const struct panel_curves *v)
{
	struct plot b = { .width = p->width - LEFT - (p->has_limits ? RIGHT_OF_LIMITS : RIGHT) };
	double x[DOWNSAMPLER_COLUMNS];
	unsigned line[DOWNSAMPLER_COLUMNS];

	b.top = ABOVE + (legend_place(v->charts, v->spec, b.width, x, line) - 1) * LEGEND_LINE +
		bands_height(p->bands);
	b.bottom = p->height - BELOW;
	b.height = b.bottom - b.top;
	return b;
}

static void panel_put_bands(FILE *f, const struct panel *p, const struct plot *b)
{
	const struct band_place place = { .left = LEFT,
					  .width = b->width,
					  .wall = p->wall,
					  .lanes_top = b->top - bands_height(p->bands),
					  .plot_top = b->top,
					  .plot_height = b->height };

	bands_write(f, p->bands, &place);
}

static void panel_put(FILE *f, const struct panel *p, const struct panel_curves *v)
{
	const struct plot b = panel_find_plot(p, v);
	double top = panel_find_top(p, &b, v->largest, v->limits, v->nr_limits);
	const struct limit_place place = panel_limit_place(&b, top);

	fprintf(f, "<g transform=\"translate(%.0f %.0f)\">\n", p->x, p->y);
	panel_put_title(f, &b, v->spec);
	panel_put_legend(f, &b, v->charts, v->spec);
	panel_put_bands(f, p, &b);
	panel_put_value_axis(f, &b, v->spec, top);
	panel_put_time_axis(f, &b, p->wall);
	panel_put_curves(f, p, &b, v->charts, v->spec, top, v->rows, v->heights, v->nr);
	limits_draw(f, v->limits, v->nr_limits, &place);
	panel_put_marks(f, p, &b);
	panel_put_point(f, p, &b, top, v->limits, v->nr_limits);
	fputs("</g>\n", f);
}

bool panel_has_limits(const struct panel *p, const struct report_run *r, size_t i)
{
	struct panel_curves v;
	bool has = !panel_curves_make(&v, p, r, i) && v.nr_limits;

	panel_curves_done(&v);
	return has;
}

int panel_write(FILE *f, const struct panel *p, const struct report_run *r, size_t i)
{
	struct panel_curves v;
	int err = panel_curves_make(&v, p, r, i);

	if (!err)
		panel_put(f, p, &v);
	panel_curves_done(&v);
	return err;
}
