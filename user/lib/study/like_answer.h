/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the known runs with the most similar signature, their kind, and whether they are near. */
#ifndef STUDY_LIKE_ANSWER_H
#define STUDY_LIKE_ANSWER_H

#include "run/signature.h"

/* A run to compare with. */
struct known_run {
	size_t of;        /* the caller's number of the run */
	const char *kind; /* not owned */
	size_t nr_kind;   /* set by known_sort(): the number of the kind */
	struct signature signature;
};

struct known_runs {
	struct known_run *list; /* owned */
	size_t nr, room, nr_kinds;
};

/* -ENOMEM. */
int known_add(struct known_runs *k, size_t of, const char *kind, const struct signature *g);
/* Sorts the runs by kind; call it before they are used. */
void known_sort(struct known_runs *k);
void known_done(struct known_runs *k);

/* A dimension counts for at most so many scales in a distance, so that none decides alone. */
#define LARGEST_DIFFERENCE 3.

/* The units of differences between signatures, from the known runs. */
struct like_scale {
	float scale[NR_SIGNATURE_DIMENSIONS];  /* thousandths: 1.4826 MAD over all runs */
	float weight[NR_SIGNATURE_DIMENSIONS]; /* larger if runs of one kind differ less */
	float programs;                        /* weight of the programs; 0: left out */
};

/*
 * Makes a scale from up to 5,000 runs, taken evenly from each kind. If the kinds have too few runs,
 * the weights are those of signature.def. -ENOMEM.
 */
int like_scale_make(struct like_scale *s, const struct known_runs *k, bool has_programs);
/*
 * Returns the mean difference over the dimensions that both have, and their programs, in scales: 0
 * to LARGEST_DIFFERENCE, or infinity if they have none in common.
 */
double like_distance(const struct like_scale *s, const struct signature *a,
		     const struct signature *b);
/* Returns the share of the program @name (SIGNATURE_NAME_BYTES) in the CPU time, in thousandths. */
int32_t like_program_share(const struct signature *g, const char *name);
/* Returns 1 - the weighted Jaccard index of their shares: 0 to 1. Both must have programs. */
double like_programs_distance(const struct signature *a, const struct signature *b);

#define MAX_NEIGHBOURS 100
#define NEAR_SHARE 0.95 /* of known runs are within the threshold of one of their kind */

struct neighbour {
	size_t at; /* in the list of known runs */
	double distance;
};

struct like_answer {
	struct neighbour list[MAX_NEIGHBOURS]; /* the nearest first */
	size_t nr;
	bool has_threshold;  /* a kind has two runs, and about as many as the nearest one */
	double threshold;    /* largest distance that is near */
	size_t nr_threshold; /* number of distances that it is made from */
	bool is_near;        /* the nearest run is within it */
	const char *kind;    /* of the neighbours, nearer ones count for more; NULL: none */
	size_t agreeing;     /* neighbours of that kind */
};

/* Finds the @k (up to MAX_NEIGHBOURS) nearest runs; @known must be sorted. -ENOMEM. */
int like_answer_make(struct like_answer *a, const struct like_scale *s,
		     const struct known_runs *known, const struct signature *g, size_t k);

#endif
