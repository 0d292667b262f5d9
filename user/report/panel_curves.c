// SPDX-License-Identifier: BSD-2-Clause
#include "report/panel_curves.h"

#include "report/colours.h"
#include "report/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double curve_to_drawn_unit(const struct curve_spec *curve, double stored)
{
	return stored / pow(10, metric_decimals(curve->id));
}

bool curve_is_drawn(const struct report_charts *c, const struct curve_spec *curve)
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

int panel_curves_make(struct panel_curves *v, const struct report_charts *c, size_t i)
{
	*v = (struct panel_curves){ .charts = c, .spec = &chart_specs[i] };
	v->rows = charts_get_rows(c, i, &v->nr);
	v->heights = v->rows ? panel_compute_heights(c, v->spec, v->rows, v->nr) : NULL;
	if (!v->heights)
		return -ENOMEM;
	v->largest = panel_find_largest(c, v->spec, v->heights, v->nr);
	return 0;
}

void panel_curves_done(struct panel_curves *v)
{
	free(v->rows);
	free(v->heights);
}

static void panel_curve_draw(FILE *f, const struct panel_curves *v, unsigned k,
			     const struct trace_scale *scale)
{
	const struct curve_spec *curve = &v->spec->curve[k];
	const double *y = v->heights + k * v->nr;

	if (curve->style == CURVE_STACKED) {
		fprintf(f, "<path fill=\"%s\" d=\"", fill_colours[curve->colour]);
		trace_write(f, scale, v->rows, y, v->nr, true);
		fputs("\"/>\n", f);
	}
	fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"",
		line_colours[curve->colour], curve->style == CURVE_STACKED ? "0.5" : "1.25",
		curve->style == CURVE_DASHED ? " stroke-dasharray=\"4 2\"" : "");
	trace_write(f, scale, v->rows, y, v->nr, false);
	fputs("\"/>\n", f);
}

/* Stacked areas are drawn from the top down: each covers all but its share of the previous one. */
void panel_curves_draw(FILE *f, const struct panel_curves *v, const struct plot *b, double wall,
		       double top)
{
	const struct trace_scale scale = { .left = PLOT_LEFT,
					   .bottom = b->bottom,
					   .x_per_second = b->width / wall,
					   .y_per_unit = b->height / top };
	const struct curve_spec *curve = v->spec->curve;

	for (unsigned k = v->spec->nr; k-- > 0;)
		if (curve[k].style == CURVE_STACKED && curve_is_drawn(v->charts, &curve[k]))
			panel_curve_draw(f, v, k, &scale);
	for (unsigned k = 0; k < v->spec->nr; k++)
		if (curve[k].style != CURVE_STACKED && curve_is_drawn(v->charts, &curve[k]))
			panel_curve_draw(f, v, k, &scale);
}
