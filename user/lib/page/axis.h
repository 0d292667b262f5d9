/* SPDX-License-Identifier: BSD-2-Clause */
/* The axes of a chart: their ticks, and the text of the values and times beside them. */
#ifndef PAGE_AXIS_H
#define PAGE_AXIS_H

#include "page/plot.h"
#include "page/page_spec.h"

#include <stdio.h>

#define AXIS_TEXT 40

/* The smallest round step that divides @span into no more than @max. */
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

#endif
