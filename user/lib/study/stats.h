/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of small samples: quantiles, a rank test, a correction for multiple tests. */
#ifndef STUDY_STATS_H
#define STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Largest number of values, of both samples, for an exact test. */
#define RANK_TEST_EXACT 50

struct rank_test {
	bool is_exact;  /* from all arrangements; else a normal approximation */
	double u;       /* pairs with the larger value in the second sample; ties count half */
	double p;       /* two-sided */
	double p_least; /* smallest p possible with so few values */
};

void stats_sort(double *v, size_t n);
/* Returns the @q quantile of @n > 0 sorted values, with linear interpolation (type 7 of Hyndman and
 * Fan). */
double stats_quantile(const double *sorted, size_t n, double q);
/*
 * Tests by Mann-Whitney U whether values of @b tend to be larger or smaller than those of @a. Ties
 * share their mean rank; the exact p is the share of arrangements of the ranks whose rank sum is at
 * least as far from its mean. Neither sample may be empty. Returns 0 or -ENOMEM.
 */
int stats_rank_test(const double *a, size_t na, const double *b, size_t nb, struct rank_test *t);
/* Returns the smallest p that is possible for samples of @na and @nb values. */
double stats_rank_p_least(size_t na, size_t nb);
/* Writes twice the rank of each value; ties share their mean rank. Returns 0 or -ENOMEM. */
int stats_ranks(const double *values, size_t n, double *twice);
/*
 * Corrects @n p values of simultaneous tests in place, by Holm. NANs are skipped. Returns 0 or
 * -ENOMEM.
 */
int stats_holm(double *p, size_t n);

#endif
