/* SPDX-License-Identifier: BSD-2-Clause */
/* A curve as the data of an SVG path, with no more points than its width can show. */
#ifndef PAGE_TRACE_H
#define PAGE_TRACE_H

#include "page/downsampler.h"

#include <stdbool.h>
#include <stdio.h>

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

#endif
