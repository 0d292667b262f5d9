/* SPDX-License-Identifier: BSD-2-Clause */
/* The legend of a chart: a mark and a name for each of its curves. */
#ifndef REPORT_LEGEND_H
#define REPORT_LEGEND_H

#include "report/charts.h"
#include "report/plot.h"

#include <stdio.h>

#define LEGEND_LINE 14 /* pixels */

/* How many lines it needs where a line may be so wide. */
unsigned legend_lines(const struct report_charts *c, const struct chart_spec *spec, double width);
/* Below the title, of the width of the plot. */
void legend_draw(FILE *f, const struct plot *b, const struct report_charts *c,
		 const struct chart_spec *spec);

#endif
