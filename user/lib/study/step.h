/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of the work that runs did, compared one by one. A step is what the spans of one path
 * have used in a run, or the phases of one name, or the processes of one program: sums, of peaks
 * the largest. Steps of two runs are the same if their paths are.
 */
#ifndef STUDY_STEP_H
#define STUDY_STEP_H

#include "study/compare.h"

#define MAX_STEPS 4096 /* of all runs; others are left out */

enum step_kind { STEP_PHASE, STEP_PROGRAM, STEP_SPAN, NR_STEP_KINDS };
#define STEP_WORDS "phase", "program", "span" /* as typed, in that order */

struct step {
	json_t *path;       /* owned; names, from the outermost on */
	char *name;         /* owned; the same, apart by '/' */
	struct side *sides; /* owned; of each run, by its number; nothing of them but the values */
	size_t *spans;      /* owned; of each run: how many phases, processes or spans */
	double *counts;     /* owned; of these those of the runs of each group, as a median */
	struct groups groups; /* of the sides, as those of the runs are */
	struct comparison comparison;
};

struct steps {
	enum step_kind kind; /* set before runs are added */
	struct step *list;   /* owned; in the order in which they first come */
	size_t nr, room;
	json_t *index;   /* owned; key of the path -> number */
	size_t nr_sides; /* of each step that there is room for */
	uint64_t left_out;
};

/* "span", and "spans". */
const char *step_kind_name(enum step_kind kind);
const char *step_kind_names(enum step_kind kind);
/* What is counted of a step, as the title of a column: of a program its processes. */
const char *step_kind_counted(enum step_kind kind);
/* Adds what run number @run, of @src, did; to be called for each run of bpfmon, in order. Errors
 * of source_each(), and -ENOMEM. */
int steps_add_run(struct steps *all, size_t run, struct source *src);
/* Compares each step in the groups @g, of the runs @runs, which have to live as long. -ENOMEM. */
int steps_compare(struct steps *all, const struct groups *g, const struct sides *runs);
void steps_done(struct steps *all);

#endif
