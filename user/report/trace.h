/* SPDX-License-Identifier: BSD-2-Clause */
/* A curve as the data of an SVG path, of no more points than there are places to draw them. */
#ifndef REPORT_TRACE_H
#define REPORT_TRACE_H

#include "report/thin.h"

#include <stdbool.h>
#include <stdio.h>

struct trace_scale {
	double left, bottom; /* where time and value are 0 */
	double x_per_second, y_per_unit;
};

/*
 * Writes the values @y at the times of @rows: of those that share half a pixel the first, the
 * least, the most and the last. Where one is NAN the curve is interrupted. @is_area: closed down
 * to 0.
 */
void trace_write(FILE *f, const struct trace_scale *scale, const struct thin_row *rows,
		 const double *y, size_t nr, bool is_area);

#endif
