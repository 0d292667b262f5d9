/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the places in a sequence where its values change. */
#ifndef STUDY_CHANGE_H
#define STUDY_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#define MOST_CHANGES 8

struct change {
	size_t place; /* index in @places; values differ from there on */
	double p;
};

struct changes {
	bool is_enough;                   /* enough values to tell a change from noise */
	double p;                         /* of the first change tested; 1 if none was */
	struct change list[MOST_CHANGES]; /* in the order of the sequence */
	size_t nr;
};

/*
 * Finds changes in @n values, at the @nr candidates @places, ascending, each above 0 and below @n.
 * The statistic is a CUSUM of ranks: the maximum over all places of the difference between the mean
 * ranks before and after, in standard deviations. p is the share of random orders of the values
 * with a statistic at least as large. If p is below ALPHA of compare.h, both sides are searched in
 * the same way. Returns 0 or -ENOMEM.
 */
int changes_find(struct changes *c, const double *values, size_t n, const size_t *places,
		 size_t nr);

#endif
