/* SPDX-License-Identifier: BSD-2-Clause */
/* The charts of a run as one SVG, for a paper or a wiki. */
#ifndef PAGE_FIGURE_H
#define PAGE_FIGURE_H

#include "page/page_run.h"

#include <stdio.h>

#define FIGURE_PIXELS_PER_MM (96 / 25.4)
#define FIGURE_LEAST 180 /* pixels: a curve and its axes have room in it */
#define FIGURE_MOST 8000
#define FIGURE_ALL NR_CHARTS /* as @panel */

/* What is drawn, and how large; @width of 0: as wide as it is best. */
struct figure_layout {
	size_t panel; /* the number of one chart, without a heading; or FIGURE_ALL */
	double width; /* pixels (1/96 inch): texts keep their size, so that they can be read */
};

/* Whether the run has anything to draw in chart @i. */
bool figure_has_panel(const struct report_run *r, size_t i);
/* The size of the figure in pixels. */
void figure_measure(const struct report_run *r, const struct figure_layout *layout, double *width,
		    double *height);
/* Writes the charts of @r. 0 or -ENOMEM; the caller looks at ferror(@f). */
int figure_write(FILE *f, const struct report_run *r, const struct figure_layout *layout);

#endif
