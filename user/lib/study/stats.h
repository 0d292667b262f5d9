/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of small samples: quantiles, a rank test, a correction for several tests. */
#ifndef STUDY_STATS_H
#define STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* The test is exact up to this number of values of both samples. */
#define RANK_TEST_EXACT 50

struct rank_test {
	bool is_exact;  /* by counting all arrangements; else the normal approximation */
	double u;       /* pairs with the second value larger; ties count half */
	double p;       /* two-sided */
	double p_least; /* smallest possible with so few values */
};

/* Sorts @v, ascending. */
void stats_sort(double *v, size_t n);
/* Returns the @q quantile of @n > 0 sorted values, with linear interpolation (type 7 of Hyndman and
 * Fan). */
double stats_quantile(const double *sorted, size_t n, double q);
/*
 * Tests by Mann-Whitney U whether values of @b tend to be larger or smaller than those of @a. Ties
 * share their mean rank; the exact p is the share of all arrangements of the ranks with a rank sum
 * at least as far from its mean. Both must have values. -ENOMEM.
 */
int stats_rank_test(const double *a, size_t na, const double *b, size_t nb, struct rank_test *t);
/* Returns the smallest p that @na values against @nb can have. */
double stats_rank_p_least(size_t na, size_t nb);
/* Writes twice the rank of each of @n values; equal ones share their mean rank. -ENOMEM. */
int stats_ranks(const double *values, size_t n, double *twice);
/* Corrects @n p values of simultaneous tests in place, by Holm. NANs are skipped. -ENOMEM. */
int stats_holm(double *p, size_t n);

#endif
