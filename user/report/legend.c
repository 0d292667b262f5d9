// SPDX-License-Identifier: BSD-2-Clause
#include "report/legend.h"

#include "base/xml.h"
#include "report/colours.h"
#include "report/panel_curves.h"

#include <math.h>
#include <string.h>

static double legend_width(const char *label)
{
	return 16 + CHARACTER_WIDTH * (double)strlen(label) + 12;
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
		x[k] = PLOT_LEFT + at;
		line[k] = n;
		at += needs;
	}
	return n + 1;
}

unsigned legend_lines(const struct report_charts *c, const struct chart_spec *spec, double width)
{
	double x[DOWNSAMPLER_COLUMNS];
	unsigned line[DOWNSAMPLER_COLUMNS];

	return legend_place(c, spec, width, x, line);
}

void legend_draw(FILE *f, const struct plot *b, const struct report_charts *c,
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
