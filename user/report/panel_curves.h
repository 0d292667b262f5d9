/* SPDX-License-Identifier: BSD-2-Clause */
/* The curves and areas of a chart, as paths of an SVG. */
#ifndef REPORT_PANEL_CURVES_H
#define REPORT_PANEL_CURVES_H

#include "report/charts.h"
#include "report/plot.h"

#include <stdio.h>

/* Of one chart. */
struct panel_curves {
	const struct report_charts *charts; /* not owned */
	const struct chart_spec *spec;
	struct downsampler_row *rows; /* owned */
	double *heights;              /* owned: of all curves, one after the other, at each row */
	size_t nr;                    /* rows */
	double largest;
};

/* Whether it has values, and is one of those that are drawn. */
bool curve_is_drawn(const struct report_charts *c, const struct curve_spec *curve);
/* Of chart @i, as long as @c lasts; -ENOMEM. panel_curves_done() in any case. */
int panel_curves_make(struct panel_curves *v, const struct report_charts *c, size_t i);
void panel_curves_done(struct panel_curves *v);
/* Over the seconds @wall, up to the value @top. */
void panel_curves_draw(FILE *f, const struct panel_curves *v, const struct plot *b, double wall,
		       double top);

#endif
