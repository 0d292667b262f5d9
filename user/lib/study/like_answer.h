/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the known runs with the most similar signatures, their kind, and whether they are near. */
#ifndef STUDY_LIKE_ANSWER_H
#define STUDY_LIKE_ANSWER_H

#include "run/signature.h"
#include "store/query.h"

#include <stdio.h>

/* A run to compare with. */
struct known_run {
	size_t of;        /* index of the run, set by the caller */
	const char *kind; /* not owned */
	size_t nr_kind;   /* number of the kind, set by known_sort() */
	bool is_same;     /* has the command line of the run in question; set by the caller */
	struct signature signature;
};

struct known_runs {
	struct known_run *list; /* owned */
	size_t nr, room, nr_kinds;
};

int known_add(struct known_runs *k, size_t of, const char *kind, const struct signature *g);
/* Sorts the runs by kind. Call it before they are used. */
void known_sort(struct known_runs *k);
void known_done(struct known_runs *k);

/* Limit of the difference in one dimension, in scales, so that none decides alone. */
#define LARGEST_DIFFERENCE 3.

/* Units of the differences between signatures, derived from the known runs. */
struct like_scale {
	float scale[NR_SIGNATURE_DIMENSIONS];  /* thousandths: 1.4826 MAD over all runs */
	float weight[NR_SIGNATURE_DIMENSIONS]; /* larger if runs of one kind differ less */
	float programs;                        /* weight of the programs; 0: ignored */
};

/*
 * Makes a scale from up to 5,000 runs, evenly from each kind. Takes the weights of signature.def if
 * the kinds have too few runs. Returns 0 or -ENOMEM.
 */
int like_scale_make(struct like_scale *s, const struct known_runs *k, bool has_programs);
/*
 * Returns the mean difference, in scales, over the dimensions that both have and their programs: 0
 * to LARGEST_DIFFERENCE, or infinity if they have none in common.
 */
double like_distance(const struct like_scale *s, const struct signature *a,
		     const struct signature *b);
/* Returns the share of the program @name (SIGNATURE_NAME_BYTES) in the CPU time, in thousandths. */
int32_t like_program_share(const struct signature *g, const char *name);
/* Returns 1 minus the weighted Jaccard index of the shares, 0 to 1. Both must have programs. */
double like_programs_distance(const struct signature *a, const struct signature *b);

#define MAX_NEIGHBOURS 100
#define NEAR_SHARE 0.95 /* of known runs have a run of their kind within the threshold */

struct neighbour {
	size_t at; /* index in the list of known runs */
	double distance;
};

struct like_answer {
	/* Those with the same command line come first, then the nearest. */
	struct neighbour list[MAX_NEIGHBOURS];
	size_t nr, nr_same;
	struct neighbour nearest; /* of all; if nr > 0 */
	bool has_threshold;  /* some kind has 2 runs or more, and half as many as the nearest */
	double threshold;    /* largest distance that counts as near */
	size_t nr_threshold; /* number of distances that it is derived from */
	bool is_near;        /* the nearest run is within the threshold */
	const char *kind; /* elected by the neighbours, nearer ones with more weight; may be NULL */
	size_t agreeing;  /* number of neighbours of that kind */
};

/* Finds the @k (up to MAX_NEIGHBOURS) first runs. @known must be sorted. Returns 0 or -ENOMEM. */
int like_answer_make(struct like_answer *a, const struct like_scale *s,
		     const struct known_runs *known, const struct signature *g, size_t k);

/* Text and JSON of `bpfmon like`. */

struct like_shown {
	const char *label; /* of the run */
	const struct signature *signature;
	const struct known_runs *known; /* of known runs; each refers to one of @runs */
	const struct stored_runs *runs;
	const char *const *prefixes; /* of run numbers, for each store */
	const struct like_scale *scale;
	const struct like_answer *answer;
};

void like_text(FILE *f, const struct like_shown *s, size_t width);
int like_json(FILE *f, const struct like_shown *s);

#endif
