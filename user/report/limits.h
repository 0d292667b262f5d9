/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run may use, and what the machine has, as lines of a chart. */
#ifndef REPORT_LIMITS_H
#define REPORT_LIMITS_H

#include "report/axis.h"
#include "report/run.h"

#include <stdio.h>

#define MOST_LIMITS 3

struct panel_limit {
	const char *name;     /* static: "limit" */
	char text[AXIS_TEXT]; /* "1 GiB" */
	double value;
};

/*
 * Those of chart @i that are near @largest, the highest of its values, so that they do not flatten
 * its curves; of CPU the least in any case. The largest is the first. Returns how many.
 */
unsigned limits_find(struct panel_limit list[MOST_LIMITS], const struct report_run *r, size_t i,
		     double largest);
/* Where their lines and names are drawn. */
struct limit_place {
	double left, right, top, bottom; /* of the plot */
	double y_per_unit;
};
/* Dotted lines; their names are beside the plot, so that they cover no curve. */
void limits_draw(FILE *f, const struct panel_limit *list, unsigned nr,
		 const struct limit_place *place);
/* @y, the base line of a text in the plot, or higher: above the lines that would cross it. */
double limits_lift_text(const struct panel_limit *list, unsigned nr,
			const struct limit_place *place, double y);

#endif
