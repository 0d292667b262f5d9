/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an axis has its ticks, and how values and times are written beside them. */
#ifndef REPORT_AXIS_H
#define REPORT_AXIS_H

#include "report/spec.h"

#define AXIS_TEXT 40

/* The least round step of which @span has no more than @most. */
double axis_step(enum chart_unit unit, double span, unsigned most);
double axis_time_step(double span, unsigned most);
/* @value in the unit that is drawn (bytes, cores, a share of 1); writes into @out, returns it. */
char *axis_format_value(char out[AXIS_TEXT], enum chart_unit unit, double value);
/* A time of a run that lasts @wall, as precise as @step wants it: 3.5, 2:05, 1:02:05. */
char *axis_format_time(char out[AXIS_TEXT], double seconds, double step, double wall);
/* What the numbers of axis_format_time() are: "s", "min:s", "h:min:s". */
const char *axis_time_unit(double wall);

#endif
