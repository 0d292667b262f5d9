/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of the work that runs did, compared one by one. A step is what the spans of one path
 * have used in a run: sums, of peaks the largest. Steps of two runs are the same if their paths
 * are.
 */
#ifndef COMPARE_STEP_H
#define COMPARE_STEP_H

#include "compare/compare.h"

#define MAX_STEPS 4096 /* of all runs; others are left out */

struct step {
	json_t *path;       /* owned; names, from the outermost on */
	char *name;         /* owned; the same, apart by '/' */
	struct side *sides; /* owned; of each run, by its number; nothing of them but the values */
	size_t *spans;      /* owned; of each run */
	double *counts;     /* owned; spans of the runs of each group, as a median */
	struct groups groups; /* of the sides, as those of the runs are */
	struct comparison comparison;
};

struct steps {
	struct step *list; /* owned; in the order in which they first come */
	size_t nr, room;
	json_t *index;   /* owned; key of the path -> number */
	size_t nr_sides; /* of each step that there is room for */
	uint64_t left_out;
};

/* Adds what run number @run, of @src, did; to be called for each run with spans, in order. Errors
 * of source_each(), and -ENOMEM. */
int steps_add_run(struct steps *all, size_t run, struct source *src);
/* Compares each step in the groups @g, of the runs @runs, which have to live as long. -ENOMEM. */
int steps_compare(struct steps *all, const struct groups *g, const struct sides *runs);
void steps_done(struct steps *all);

#endif
