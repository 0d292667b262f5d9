// SPDX-License-Identifier: BSD-2-Clause
#include "study/robust.h"

#include "study/stats.h"

#include <math.h>

#define SIGMA_OF_MEDIAN_DEVIATION 1.4826 /* 1 / the 0.75 quantile of the normal distribution */
#define SIGMA_OF_MEAN_DEVIATION 1.2533   /* the root of pi / 2 */
#define SIGMAS_BETWEEN_TAILS 2.5631      /* from the 10th to the 90th percentile */
#define SKEWED 0.1

static bool values_are_skewed(const double *sorted, size_t n)
{
	double low = stats_quantile(sorted, n, 0.1), high = stats_quantile(sorted, n, 0.9);
	double median = stats_quantile(sorted, n, 0.5);

	return high + low - 2 * median > SKEWED * (high - low);
}

/* What is added before the logarithm: 0 but where there are zeros. */
static double robust_start(const double *sorted, size_t n)
{
	size_t zeros = 0;

	while (zeros < n && sorted[zeros] == 0)
		zeros++;
	return zeros && zeros < n ? stats_quantile(sorted + zeros, n - zeros, 0.5) : 0;
}

/* Of sorted distances on the axis, in place. */
static double robust_scale(double *axis, size_t n, double centre)
{
	double tails = stats_quantile(axis, n, 0.9) - stats_quantile(axis, n, 0.1);
	double sum = 0, scale;

	for (size_t i = 0; i < n; i++) {
		axis[i] = fabs(axis[i] - centre);
		sum += axis[i];
	}
	stats_sort(axis, n);
	scale = fmax(SIGMA_OF_MEDIAN_DEVIATION * stats_quantile(axis, n, 0.5),
		     tails / SIGMAS_BETWEEN_TAILS);
	return scale > 0 ? scale : SIGMA_OF_MEAN_DEVIATION * sum / (double)n;
}

void robust_make(struct robust *r, double *values, size_t n)
{
	stats_sort(values, n);
	*r = (struct robust){ .nr = n, .median = stats_quantile(values, n, 0.5) };
	r->is_log = values[0] >= 0 && values_are_skewed(values, n);
	if (r->is_log) {
		r->start = robust_start(values, n);
		for (size_t i = 0; i < n; i++)
			values[i] = log(values[i] + r->start);
	}
	r->centre = stats_quantile(values, n, 0.5);
	r->scale = robust_scale(values, n, r->centre);
}

double robust_z(const struct robust *r, double value)
{
	double distance;

	if (value == r->median)
		return 0;
	distance = (r->is_log ? log(value + r->start) : value) - r->centre;
	if (r->scale > 0)
		return distance / r->scale;
	return distance > 0 ? INFINITY : -INFINITY;
}
