/* SPDX-License-Identifier: BSD-2-Clause */
/* What charts are drawn with: axes, curves, bands of phases and spans, colours. */
#ifndef PAGE_PLOT_H
#define PAGE_PLOT_H

#include "page/charts.h"
#include "page/downsampler.h"
#include "page/page_run.h"

#include <stdbool.h>
#include <stdio.h>

/* Where the curves of a chart are, within its panel. */

#define PLOT_LEFT 68
#define CHARACTER_WIDTH 6.7 /* the width of one, about, at 11 px */

struct plot {
	double width, top, height, bottom;
};

#define AXIS_TEXT 40

/* Return the smallest round step that divides @span into no more than @max. */
double axis_step(enum chart_unit unit, double span, unsigned max);
double axis_time_step(double span, unsigned max);
/* Formats @value, in the unit that is drawn (bytes, cores, a share of 1), into @out; returns it. */
char *axis_format_value(char out[AXIS_TEXT], enum chart_unit unit, double value);
/*
 * Formats @seconds since the start of a run that lasts @wall seconds into @out, with the precision
 * that @step needs: 3.5, 2:05, 1:02:05; returns it.
 */
char *axis_format_time(char out[AXIS_TEXT], double seconds, double step, double wall);
/* The axis of values up to @top, with a line through the plot at each tick. */
void axis_draw_values(FILE *f, const struct plot *b, enum chart_unit unit, double top);
/* The axis of time, of @wall seconds. */
void axis_draw_time(FILE *f, const struct plot *b, double wall);

/* A curve as the data of an SVG path, with no more points than its width can show. */

struct trace_scale {
	double left, bottom; /* where time and value are 0 */
	double x_per_second, y_per_unit;
};

/*
 * Writes the values @y at the times of @rows: of those within the same half of a pixel the first,
 * the least, the greatest and the last. NAN interrupts the curve. @is_area: each piece is closed
 * down to 0.
 */
void trace_write(FILE *f, const struct trace_scale *scale, const struct downsampler_row *rows,
		 const double *y, size_t nr, bool is_area);

/* The colours of pages, in a light and a dark theme; pictures have the light ones. */

#define NR_COLOURS 7 /* of curves, by the number that a curve has in charts.c */

enum colour {
	COLOUR_PAPER,
	COLOUR_GROUND,
	COLOUR_TEXT,
	COLOUR_QUIET,
	COLOUR_LINE,
	COLOUR_GRID,
	COLOUR_BAD,
	COLOUR_BAD_GROUND,
	COLOUR_GOOD,
	COLOUR_FOCUS,
	COLOUR_SERIES,                            /* those of the curves */
	COLOUR_FILL = COLOUR_SERIES + NR_COLOURS, /* those of areas, in the same order */
	NR_PAGE_COLOURS = COLOUR_FILL + NR_COLOURS
};

/* Returns the light one, as "#rrggbb". */
const char *colour_light(enum colour colour);
/* Writes both themes as CSS. @by_system: the system chooses the theme, not a script. */
void colours_write_css(FILE *f, bool by_system);

/* Phases and spans of a picture: lanes of bars with their names, and a tint behind the curves. */

#define SPAN_LANES 3   /* of what is at the same time; what has no place in them is not drawn */
#define LANE_HEIGHT 15 /* pixels */

struct band {
	double start, end; /* seconds since the start of the run */
	const char *text;  /* of the run; NULL: it has no name */
	unsigned colour;   /* as of a curve */
	unsigned lane;     /* the uppermost is 0 */
};

struct bands {
	struct band *list; /* owned; those of a lane in the order of their time */
	size_t nr;
	unsigned lanes;
	bool has_phases; /* lane 0 has them */
};

/* Where they are drawn. */
struct band_place {
	double left, width, wall; /* of the time axis; @wall in seconds */
	double lanes_top;         /* of the uppermost lane */
	double plot_top, plot_height;
};

/* As long as @r lasts; -ENOMEM. bands_done() in any case. */
int bands_make(struct bands *b, const struct report_run *r);
void bands_done(struct bands *b);
/* Of all lanes, in pixels. */
double bands_height(const struct bands *b);
/* The phases behind the curves, then the lanes. Bars that are too thin to be seen are one. */
void bands_write(FILE *f, const struct bands *b, const struct band_place *place);

#endif
