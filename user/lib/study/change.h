/* SPDX-License-Identifier: BSD-2-Clause */
/* From which place on the values of a sequence are others than before, if they are. */
#ifndef STUDY_CHANGE_H
#define STUDY_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#define MOST_CHANGES 8

struct change {
	size_t place; /* in the list of places: the values from there on are others */
	double p;
};

struct changes {
	bool is_enough;                   /* values for any change to be more than noise */
	double p;                         /* of the first that was looked for; 1: of none */
	struct change list[MOST_CHANGES]; /* in the order of the sequence */
	size_t nr;
};

/*
 * Looks for changes of @n values. @places: where one may be, @nr of them, each above 0 and below
 * @n, upwards. The statistic is a CUSUM of ranks: the largest, over all places, of the difference
 * of the mean ranks before and after it, in standard deviations. p is the share of random orders of
 * the values in which that is at least as large. Where it is below ALPHA of compare.h, both sides
 * are looked at in the same way. -ENOMEM.
 */
int changes_find(struct changes *c, const double *values, size_t n, const size_t *places,
		 size_t nr);

#endif
