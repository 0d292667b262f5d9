/* SPDX-License-Identifier: BSD-2-Clause */
/* What few numbers say of each other: quartiles, a rank test, a correction for several tests. */
#ifndef STUDY_STATS_H
#define STUDY_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Up to so many values of both samples together the test is exact. */
#define RANK_TEST_EXACT 50

struct rank_test {
	bool is_exact;  /* by counting all arrangements; else the normal approximation */
	double u;       /* pairs in which the second is larger, ties half */
	double p;       /* two-sided */
	double p_least; /* that so few values can give at all */
};

/* Sorts @v, upwards. */
void stats_sort(double *v, size_t n);
/* The @q quantile of @n > 0 sorted values, linear between two of them (type 7 of Hyndman and Fan).
 */
double stats_quantile(const double *sorted, size_t n, double q);
/*
 * Mann-Whitney U: whether values of @b are larger or smaller than those of @a more often than by
 * chance. Tied values share their mean rank; exactly, p is the share of all arrangements of the
 * ranks in which the rank sum is as far from its mean or farther. Both have values. -ENOMEM.
 */
int stats_rank_test(const double *a, size_t na, const double *b, size_t nb, struct rank_test *t);
/* The smallest p that @na values against @nb can give in it at all. */
double stats_rank_p_least(size_t na, size_t nb);
/* Twice the rank of each of @n values, in their order; equal ones share their mean rank. -ENOMEM.
 */
int stats_ranks(const double *values, size_t n, double *twice);
/* Holm: corrects @n p values of tests that are made together, in place. NANs are none.
 * -ENOMEM. */
int stats_holm(double *p, size_t n);

#endif
