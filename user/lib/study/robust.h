/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a value is from what is usual, whatever a few others are. */
#ifndef STUDY_ROBUST_H
#define STUDY_ROBUST_H

#include <stdbool.h>
#include <stddef.h>

struct robust {
	size_t nr;
	double median; /* of the values themselves */
	bool is_log;   /* distances are those of logarithms */
	double start;  /* added before the logarithm */
	double centre, scale;
};

/*
 * Of @n > 0 values, which it changes. Logarithms are taken where none is negative and the upper
 * tail is the longer one: the 90th percentile is farther from the median than the 10th by more than
 * a tenth of the distance of both; where some are 0, the median of the others is added before. The
 * scale is 1.4826 times the median absolute deviation, which is the standard deviation of normal
 * values; or the distance from the 10th to the 90th percentile over 2.5631, which is it, too, where
 * that is more: what every tenth run has is not unusual. Where both are 0, it is 1.2533 times the
 * mean absolute deviation.
 */
void robust_make(struct robust *r, double *values, size_t n);
/* The distance from the centre in scales; infinite where all values were the same and @value
 * is another. */
double robust_z(const struct robust *r, double value);

#endif
