/* SPDX-License-Identifier: BSD-2-Clause */
/* Few numbers in short, and by what factor one sample is larger than another. */
#ifndef STUDY_RATIO_H
#define STUDY_RATIO_H

#include <stdbool.h>
#include <stddef.h>

/* Of at least one value. */
struct measure {
	size_t nr;
	double mean, median, least, most;
	double sd; /* of the sample, by n - 1; NAN of one value */
};

/* Sorts @v. @nr may be 0: all is NAN then. */
void measure_make(struct measure *m, double *v, size_t nr);

struct ratio {
	double estimate;   /* the median of all ratios of a value of b to one of a */
	bool has_interval; /* else there are too few values for one */
	double low, high;  /* with at least 95 % the true factor is between these */
};

/*
 * By what factor values of @b are larger than those of @a, all of which are above 0: the estimate
 * of Hodges and Lehmann and the interval of Moses, on the logarithms. The interval leaves 1 out
 * exactly where stats_rank_test() without ties has p < 0.05. -ENOMEM.
 */
int ratio_estimate(const double *a, size_t na, const double *b, size_t nb, struct ratio *r);

#endif
