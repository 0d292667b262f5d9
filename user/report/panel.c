// SPDX-License-Identifier: BSD-2-Clause
#include "report/panel.h"

#include "report/axis.h"
#include "report/trace.h"
#include "base/xml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 68
#define RIGHT 14
#define ABOVE 54 /* title, a line of the legend, labels of marks */
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

/* The colours of the page's light theme. */
static const char *const colours[] = { "#20262b", "#0072b2", "#d55e00", "#009e73",
				       "#aa4499", "#8a6d00", "#56a0c8" };
static const char *const fills[] = { "#c7cdd2", "#9bcae8", "#f2bd98", "#99d9c5",
				     "#e3bfdd", "#dccf94", "#c3dfee" };

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
				x[k], floor(y - 4), fills[curve->colour]);
		else
			fprintf(f, "<path d=\"M%.1f %.1fh12\" stroke-width=\"2\"%s", x[k], y,
				curve->style == CURVE_DASHED ? " stroke-dasharray=\"4 2\"" : "");
		fprintf(f, " stroke=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">", colours[curve->colour],
			x[k] + 16, y + 4);
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
		fprintf(f, "<path fill=\"%s\" d=\"", fills[curve->colour]);
		trace_write(f, &scale, rows, y, nr, true);
		fputs("\"/>\n", f);
	}
	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"",
		colours[curve->colour], curve->style == CURVE_STACKED ? "0.5" : "1.25",
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

		if (m->seconds < 0 || m->seconds > p->wall)
			continue;
		fprintf(f, "<path d=\"M%.1f %.0fv%.0f\" stroke=\"%s\" stroke-dasharray=\"3 3\"/>\n",
			x, b->top, b->height, colour);
		if (x < free_from || x > LEFT + b->width - 30)
			continue;
		fprintf(f, "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\" font-size=\"10\">", x + 3,
			b->top - 4, colour);
		free_from = x + 8 + CHARACTER * (double)xml_write(f, m->text, LABEL_MAX);
		fputs("</text>\n", f);
	}
}

static void panel_put_limit(FILE *f, const struct panel *p, const struct plot *b, double top)
{
	double y = b->bottom - p->limit / top * b->height;

	if (!(p->limit > 0))
		return;
	fprintf(f, "<path d=\"M%d %.1fh%.0f\" stroke=\"#5a6670\" stroke-dasharray=\"2 4\"/>\n",
		LEFT, y, b->width);
	panel_put_label(f, b, LEFT + b->width, y - 4, "#5a6670", p->limit_text);
}

static void panel_put_point(FILE *f, const struct panel *p, const struct plot *b, double top)
{
	double x = LEFT + p->point_seconds / p->wall * b->width;
	double y = b->bottom - p->point / top * b->height;

	if (!(p->point > 0))
		return;
	fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#20262b\"/>\n", x, y);
	panel_put_label(f, b, x, y - 6, "#20262b", p->point_text);
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

/* The value at the upper edge: above the limit and the peak there is room for their labels. */
static double panel_find_top(const struct panel *p, const struct plot *b,
			     const struct report_charts *c, const struct chart_spec *spec,
			     const double *all, size_t nr)
{
	double top =
		fmax(panel_find_largest(c, spec, all, nr), fmax(p->limit, p->point)) * HEADROOM;
	double limit = p->limit * b->height / (b->height - LIMIT_ROOM);
	double point = p->point * b->height / (b->height - POINT_ROOM);

	top = fmax(top, fmax(limit, point));
	return top > 0 ? top : 1;
}

static void panel_put(FILE *f, const struct panel *p, const struct report_charts *c,
		      const struct chart_spec *spec, const struct downsampler_row *rows,
		      const double *all, size_t nr)
{
	double top, x[DOWNSAMPLER_COLUMNS];
	unsigned line[DOWNSAMPLER_COLUMNS], lines;
	struct plot b = { .width = p->width - LEFT - RIGHT };

	lines = legend_place(c, spec, b.width, x, line);
	b.top = ABOVE + (lines - 1) * LEGEND_LINE;
	b.bottom = p->height - BELOW;
	b.height = b.bottom - b.top;
	top = panel_find_top(p, &b, c, spec, all, nr);
	fprintf(f, "<g transform=\"translate(%.0f %.0f)\">\n", p->x, p->y);
	panel_put_title(f, &b, spec);
	panel_put_legend(f, &b, c, spec);
	panel_put_value_axis(f, &b, spec, top);
	panel_put_time_axis(f, &b, p->wall);
	panel_put_curves(f, p, &b, c, spec, top, rows, all, nr);
	panel_put_limit(f, p, &b, top);
	panel_put_marks(f, p, &b);
	panel_put_point(f, p, &b, top);
	fputs("</g>\n", f);
}

int panel_write(FILE *f, const struct panel *p, const struct report_charts *c, size_t i)
{
	size_t nr;
	struct downsampler_row *rows = charts_get_rows(c, i, &nr);
	double *all = rows ? panel_compute_heights(c, &chart_specs[i], rows, nr) : NULL;

	if (all)
		panel_put(f, p, c, &chart_specs[i], rows, all, nr);
	free(rows);
	free(all);
	return all ? 0 : -ENOMEM;
}
