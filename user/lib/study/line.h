/* SPDX-License-Identifier: BSD-2-Clause */
/* A straight line through points, and how much it explains. */
#ifndef STUDY_LINE_H
#define STUDY_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct line_fit {
	double base, slope; /* y = base + slope x */
	double explained;   /* the share of y's variance, 0 to 1 */
	double above;       /* the most that any point is above the line */
};

/* The line of least squares. False: all have the same x, fewer than three points, or numbers whose
 * squares are too large. */
bool line_fit(struct line_fit *fit, const double *x, const double *y, size_t nr);

#endif
