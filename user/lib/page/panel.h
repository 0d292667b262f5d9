/* SPDX-License-Identifier: BSD-2-Clause */
/* One chart as a part of an SVG: axes, areas and curves, legend, marks. */
#ifndef PAGE_PANEL_H
#define PAGE_PANEL_H

#include "page/plot.h"

#include <stdio.h>

/* As it is drawn beside others; of a width that is asked for it has another. With labels, margins.
 */
#define PANEL_WIDTH 490
#define PANEL_HEIGHT 242
#define PANEL_NARROW 400 /* below it labels are short */

enum panel_mark_style { MARK_PLAIN, MARK_SEVERE };

/* A moment, drawn as a vertical line; its text is not owned. */
struct panel_mark {
	double seconds;
	const char *text;
	enum panel_mark_style style;
	bool is_named; /* where there are lanes of phases, they have its text */
};

struct panel {
	double x, y;                    /* of the upper left corner */
	double width, height;           /* in pixels, at which its texts are to be read */
	double wall;                    /* seconds that the time axis spans */
	const struct bands *bands;      /* not owned */
	bool has_limits;                /* there is room for their names beside the plot */
	double point_seconds, point;    /* a value with a dot, and its time; 0: none */
	const char *point_text;         /* its label; not owned */
	const struct panel_mark *marks; /* in the order of their time */
	size_t nr_marks;
};

/* Draws chart @i; -ENOMEM. */
int panel_write(FILE *f, const struct panel *p, const struct report_run *r, size_t i);
/* Whether it has lines of limits, whose names need room in all panels that stand above it. */
bool panel_has_limits(const struct panel *p, const struct report_run *r, size_t i);

#endif
