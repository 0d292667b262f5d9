// SPDX-License-Identifier: BSD-2-Clause
#include "report/panel.h"

#include "base/xml.h"
#include "report/axis.h"
#include "report/legend.h"
#include "report/limits.h"
#include "report/panel_curves.h"

#include <math.h>
#include <string.h>

#define RIGHT 14
#define RIGHT_OF_LIMITS 54 /* for their names */
#define LIMIT_NAME 21      /* the height of one: a line with its name, and its value */
#define ABOVE 54           /* title, a line of the legend, labels of marks */
#define BELOW 44
#define HEADROOM 1.12
#define LIMIT_ROOM 16 /* for a label above the line or the dot */
#define POINT_ROOM 19
#define LABEL_MAX 28
#define POINT_MAX 64

/* A text centred at @x, or as near to it as the edges of the chart allow. */
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

/* Each mark has a line; a text that would overlap the previous one is left out. */
static void panel_put_marks(FILE *f, const struct panel *p, const struct plot *b)
{
	double free_from = 0;

	for (size_t i = 0; i < p->nr_marks; i++) {
		const struct panel_mark *m = &p->marks[i];
		double x = PLOT_LEFT + m->seconds / p->wall * b->width;
		const char *colour = m->style == MARK_SEVERE ? "#b3261e" : "#5a6670";
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

/* The value of @p with its label, which no line of a limit crosses. */
static void panel_put_point(FILE *f, const struct panel *p, const struct plot *b, double top,
			    const struct panel_limit *limits, unsigned nr)
{
	const struct limit_place place = panel_limit_place(b, top);
	double x = PLOT_LEFT + p->point_seconds / p->wall * b->width;
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
	double needs = CHARACTER_WIDTH * (double)(strlen(spec->title) * 1.25 + strlen(spec->what));

	fprintf(f,
		"<text x=\"%d\" y=\"16\" font-size=\"13\" fill=\"#1b2126\"><tspan "
		"font-weight=\"600\">%s</tspan> <tspan fill=\"#5a6670\" font-size=\"11\">%s</tspan>"
		"</text>\n",
		PLOT_LEFT, spec->title, needs < b->width ? spec->what : "");
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

/* What a panel shows of a run. */
struct panel_content {
	struct panel_curves curves;
	double largest; /* with the peak */
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

static void panel_put(FILE *f, const struct panel *p, const struct panel_content *v)
{
	const struct plot b = panel_find_plot(p, v);
	double top = panel_find_top(p, &b, v->largest, v->limits, v->nr_limits);
	const struct limit_place place = panel_limit_place(&b, top);

	fprintf(f, "<g transform=\"translate(%.0f %.0f)\">\n", p->x, p->y);
	panel_put_title(f, &b, v->curves.spec);
	legend_draw(f, &b, v->curves.charts, v->curves.spec);
	panel_put_bands(f, p, &b);
	axis_draw_values(f, &b, v->curves.spec->unit, top);
	axis_draw_time(f, &b, p->wall);
	panel_curves_draw(f, &v->curves, &b, p->wall, top);
	limits_draw(f, v->limits, v->nr_limits, &place);
	panel_put_marks(f, p, &b);
	panel_put_point(f, p, &b, top, v->limits, v->nr_limits);
	fputs("</g>\n", f);
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
		panel_put(f, p, &v);
	panel_curves_done(&v.curves);
	return err;
}
