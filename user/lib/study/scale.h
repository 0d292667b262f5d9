/* SPDX-License-Identifier: BSD-2-Clause */
/* In which units signatures differ: by how much those of known runs do. */
#ifndef STUDY_SCALE_H
#define STUDY_SCALE_H

#include "study/known.h"

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

#endif
