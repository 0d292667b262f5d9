/* SPDX-License-Identifier: BSD-2-Clause */
/* The charts of the page of many runs, as SVG. */
#ifndef MANY_PAGE_PARTS_H
#define MANY_PAGE_PARTS_H

#include "many/distribution.h"

/* A histogram with its axis. */
void many_draw_histogram(FILE *f, const struct distribution *d);
/*
 * How many of the runs with both metrics are in each small cell of the plane, with the histograms
 * of @x above and of @y at the right, in the same bins. -ENOMEM.
 */
int many_draw_scatter(FILE *f, const struct many_values *v, size_t x_metric, size_t y_metric,
		      const struct distribution *x, const struct distribution *y);

#endif
