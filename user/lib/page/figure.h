/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the charts of a run as one SVG, for a paper or a wiki. */
#ifndef PAGE_FIGURE_H
#define PAGE_FIGURE_H

#include "page/page_run.h"

#include <stdio.h>

#define FIGURE_PIXELS_PER_MM (96 / 25.4)
#define FIGURE_LEAST 180 /* pixels; room for a curve and its axes */
#define FIGURE_MOST 8000
#define FIGURE_ALL NR_CHARTS /* value of @panel */

/* What to draw, and its size. */
struct figure_layout {
	size_t panel; /* one chart, drawn without a heading, or FIGURE_ALL */
	double width; /* pixels (1/96 inch), 0 for the default; the size of texts does not depend on
			 it */
};

/* Returns true if chart @i has anything to draw. */
bool figure_has_panel(const struct report_run *r, size_t i);
/* Stores the size of the figure in pixels. */
void figure_measure(const struct report_run *r, const struct figure_layout *layout, double *width,
		    double *height);
/* Writes the charts of @r. Returns 0 or -ENOMEM. The caller checks ferror(@f). */
int figure_write(FILE *f, struct report_run *r, const struct figure_layout *layout);

#endif
