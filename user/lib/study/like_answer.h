/* SPDX-License-Identifier: BSD-2-Clause */
/* Which known runs are the nearest to one, of which kind these are, and whether they are near. */
#ifndef STUDY_LIKE_ANSWER_H
#define STUDY_LIKE_ANSWER_H

#include "study/scale.h"

#define MAX_NEIGHBOURS 100
#define NEAR_SHARE 0.95 /* of known runs that are near one of as many others of their kind */

struct neighbour {
	size_t at; /* in the list of known runs */
	double distance;
};

struct like_answer {
	struct neighbour list[MAX_NEIGHBOURS]; /* the nearest first */
	size_t nr;
	bool has_threshold;  /* some kind has two runs, and about as many as that of the neighbours
			      */
	double threshold;    /* what is farther away is not near */
	size_t nr_threshold; /* the distances that it is from */
	bool is_near;        /* the nearest one is within it */
	const char *kind;    /* that the neighbours vote for; NULL: there are none */
	size_t agreeing;     /* of them; each counts for more the nearer it is */
};

/* @k: up to MAX_NEIGHBOURS; @known is sorted. -ENOMEM. */
int like_answer_make(struct like_answer *a, const struct like_scale *s,
		     const struct known_runs *known, const struct signature *g, size_t k);

#endif
