/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of charts in an SVG: axes, curves, bands of phases and spans, colours. */
#ifndef PAGE_PLOT_H
#define PAGE_PLOT_H

#include "page/charts.h"
#include "page/downsampler.h"
#include "page/page_run.h"

#include <stdbool.h>
#include <stdio.h>

/* The area of the curves within a panel. */

#define PLOT_LEFT 68
#define CHARACTER_WIDTH 6.7 /* approximate, at 11 px */

struct plot {
	double width, top, height, bottom;
};

#define AXIS_TEXT 40

/* Return the smallest round step that divides @span into at most @max parts. */
double axis_step(enum chart_unit unit, double span, unsigned max);
double axis_time_step(double span, unsigned max);
/* Formats @value in the unit that is drawn (bytes, cores, a share of 1) into @out. Returns @out. */
char *axis_format_value(char out[AXIS_TEXT], enum chart_unit unit, double value);
/*
 * Formats @seconds since the start of a run of @wall seconds into @out, with the precision that
 * @step needs: 3.5, 2:05, 1:02:05. Returns @out.
 */
char *axis_format_time(char out[AXIS_TEXT], double seconds, double step, double wall);
/* Draws the axis of values up to @top, with a line through the plot at each tick. */
void axis_draw_values(FILE *f, const struct plot *b, enum chart_unit unit, double top);
void axis_draw_time(FILE *f, const struct plot *b, double wall);

/* A curve as steps in an SVG path. */

struct trace_scale {
	double left, bottom; /* where time and value are 0 */
	double x_per_second, y_per_unit;
	double each; /* samples per row */
};

/* A value from one time to another, in pixels. */
struct trace_step {
	double x, end;
	double y[NR_BUCKET_VALUES];
	double weight, samples;
	bool is_apart; /* no value before it */
};

struct trace {
	struct trace_step *list; /* owned */
	size_t nr;
};

/*
 * Makes the steps of a curve. @rows are those of a chart. @at(context, i, kind) is the value of row
 * @i, NAN if it was not read. A row lasts from the time of the previous one to its own; shorter
 * ones than a pixel share a step. Returns 0 or -ENOMEM. The caller calls trace_done() in any
 * case.
 */
typedef double trace_value_fn(const void *context, size_t i, enum bucket_value kind);
int trace_make(struct trace *t, const struct trace_scale *scale,
	       const struct downsampler_bucket *rows, size_t nr, trace_value_fn *at,
	       const void *context);
void trace_done(struct trace *t);
/*
 * Write the data of a path: the means as a line, or down to @bottom; from minimum to maximum. A
 * line through steps of less than a pixel per sample has gaps where it would go up and down every
 * few pixels, as it would cover the band.
 */
void trace_write_line(FILE *f, const struct trace *t);
void trace_write_area(FILE *f, const struct trace *t, double bottom);
void trace_write_band(FILE *f, const struct trace *t);

/* The colours of pages, in a light and a dark theme. SVG files use the light theme. */

#define NR_COLOURS 7 /* colours of curves, numbered as in charts.c */

enum colour {
	COLOUR_PAPER,
	COLOUR_GROUND,
	COLOUR_TEXT,
	COLOUR_QUIET,
	COLOUR_LINE,
	COLOUR_GRID,
	COLOUR_BAD,
	COLOUR_BAD_GROUND,
	COLOUR_WARN,
	COLOUR_WARN_GROUND,
	COLOUR_GOOD,
	COLOUR_FOCUS,
	COLOUR_SERIES,                            /* curves */
	COLOUR_FILL = COLOUR_SERIES + NR_COLOURS, /* areas, in the same order */
	NR_PAGE_COLOURS = COLOUR_FILL + NR_COLOURS
};

/* Returns the colour of the light theme, as "#rrggbb". */
const char *colour_light(enum colour colour);
/* Writes both themes as CSS. If @by_system, the system chooses the theme, otherwise a script. */
void colours_write_css(FILE *f, bool by_system);

/* Phases and spans in an SVG: lanes of bars with names, and a tint behind the curves. */

#define SPAN_LANES 3   /* for simultaneous spans; further ones are not drawn */
#define LANE_HEIGHT 15 /* pixels */

struct band {
	double start, end; /* seconds since the start of the run */
	const char *text;  /* borrowed from the run; NULL without a name */
	unsigned colour;   /* as for curves */
	unsigned lane;     /* 0 is the uppermost */
};

struct bands {
	struct band *list; /* owned; each lane is in time order */
	size_t nr;
	unsigned lanes;
	bool has_phases; /* in lane 0 */
};

struct band_place {
	double left, width, wall; /* of the time axis; @wall in seconds */
	double lanes_top;         /* of the uppermost lane */
	double plot_top, plot_height;
};

/*
 * Makes the bands of @r, which must outlive @b. Returns 0 or -ENOMEM. The caller calls bands_done()
 * in any case.
 */
int bands_make(struct bands *b, const struct report_run *r);
void bands_done(struct bands *b);
/* Returns the height of all lanes in pixels. */
double bands_height(const struct bands *b);
/*
 * Draws tints of phases behind the curves, then the lanes. Bars that are too thin to be visible are
 * merged.
 */
void bands_write(FILE *f, const struct bands *b, const struct band_place *place);

#endif
