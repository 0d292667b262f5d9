// SPDX-License-Identifier: BSD-2-Clause
#include "study/line.h"

#include <math.h>

#define LEAST_POINTS 3

static double mean_of(const double *v, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += v[i];
	return sum / (double)nr;
}

bool line_fit(struct line_fit *fit, const double *x, const double *y, size_t nr)
{
	double mean_x, mean_y, xx = 0, xy = 0, yy = 0, residual;

	if (nr < LEAST_POINTS)
		return false;
	mean_x = mean_of(x, nr);
	mean_y = mean_of(y, nr);
	for (size_t i = 0; i < nr; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
		yy += (y[i] - mean_y) * (y[i] - mean_y);
	}
	if (!(xx > 0) || !isfinite(xx) || !isfinite(xy) || !isfinite(yy))
		return false;
	fit->slope = xy / xx;
	fit->base = mean_y - fit->slope * mean_x;
	fit->explained = yy > 0 ? fmin(xy / xx * (xy / yy), 1) : 1;
	fit->above = 0;
	for (size_t i = 0; i < nr; i++) {
		residual = y[i] - fit->base - fit->slope * x[i];
		fit->above = fmax(fit->above, residual);
	}
	return true;
}
