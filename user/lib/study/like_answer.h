/* SPDX-License-Identifier: BSD-2-Clause */
/* Which known runs are the nearest to one, of which kind these are, and whether they are near. */
#ifndef STUDY_LIKE_ANSWER_H
#define STUDY_LIKE_ANSWER_H

#include "run/signature.h"

/* The runs that a run is compared with, each of a kind. */

struct known_run {
	size_t of;        /* which run it is, as the caller counts them */
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
/* Brings the runs of each kind together; to be done before they are used. */
void known_sort(struct known_runs *k);
void known_done(struct known_runs *k);

/* In which units signatures differ: by how much those of known runs do. */

/* Of a distance: no dimension counts for more than so many scales, so that one cannot decide. */
#define LARGEST_DIFFERENCE 3.

struct like_scale {
	float scale[NR_SIGNATURE_DIMENSIONS];  /* thousandths: 1.4826 MAD over all runs */
	float weight[NR_SIGNATURE_DIMENSIONS]; /* more where runs of one kind differ less */
	float programs;                        /* the weight of the programs; 0: left out */
};

/*
 * Of up to 5,000 of the runs, taken evenly from each kind. Without runs of a kind that are
 * enough to tell, the weights are those of signature.def. -ENOMEM.
 */
int like_scale_make(struct like_scale *s, const struct known_runs *k, bool has_programs);
/*
 * The mean difference over the dimensions that both have, and their programs, in scales: from 0 to
 * LARGEST_DIFFERENCE; infinite where they have none in common.
 */
double like_distance(const struct like_scale *s, const struct signature *a,
		     const struct signature *b);
/* Of the program @name, of SIGNATURE_NAME_BYTES: thousandths of the CPU time; 0: it has none. */
int32_t like_program_share(const struct signature *g, const char *name);
/* 1 - the weighted Jaccard index of their shares: 0 to 1. Both have programs. */
double like_programs_distance(const struct signature *a, const struct signature *b);

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
