/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws one chart as a part of an SVG: axes, areas, curves, legend and marks. */
#ifndef PAGE_PANEL_H
#define PAGE_PANEL_H

#include "page/plot.h"

#include <stdio.h>

/* Default size of a panel beside others, with labels and margins. */
#define PANEL_WIDTH 490
#define PANEL_HEIGHT 242
#define PANEL_NARROW 400 /* narrower panels have short labels */

enum panel_mark_style { MARK_PLAIN, MARK_SEVERE };

/* A moment, drawn as a vertical line. The text is not owned. */
struct panel_mark {
	double seconds;
	const char *text;
	enum panel_mark_style style;
	bool is_named; /* lanes of phases, if drawn, already show the text */
};

/* A time in which the run stood still, drawn as a band behind the curves. */
struct panel_spell {
	double start, end; /* seconds since the start of the run */
};

struct panel {
	double x, y;                    /* upper left corner */
	double width, height;           /* in pixels; texts keep their size */
	double wall;                    /* seconds on the time axis */
	const struct bands *bands;      /* not owned */
	bool has_limits;                /* reserve room for names of limits beside the plot */
	double point_seconds, point;    /* value with a dot, and its time; 0 for none */
	const char *point_text;         /* label of the dot; not owned */
	const struct panel_mark *marks; /* in time order */
	size_t nr_marks;
	const struct report_missing *missing; /* not owned */
	const struct panel_spell *spells;
	size_t nr_spells;
};

/* Draws chart @i. Returns 0 or -ENOMEM. */
int panel_write(FILE *f, const struct panel *p, const struct report_run *r, size_t i);
/*
 * Returns true if the chart has lines of limits. All panels in a column then need room for their
 * names.
 */
bool panel_has_limits(const struct panel *p, const struct report_run *r, size_t i);

#endif
