/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares runs step by step. A step is what the spans of one path, the phases of one name, or the
 * processes of one program have used in a run: sums, and the maximum of peaks. Steps of two runs
 * are the same if their paths are equal.
 */
#ifndef STUDY_STEP_H
#define STUDY_STEP_H

#include "study/compare.h"

#define MAX_STEPS 4096 /* more are left out and counted */

enum step_kind { STEP_PHASE, STEP_PROGRAM, STEP_SPAN, NR_STEP_KINDS };
#define STEP_WORDS "phase", "program", "span" /* as typed, in that order */

struct step {
	json_t *path;         /* owned; names, from the outermost on */
	char *name;           /* owned; the same, joined by '/' */
	struct side *sides;   /* owned; [run]; only their values are set */
	size_t *spans;        /* owned; [run]: number of phases, processes or spans */
	double *counts;       /* owned; [group]: median of these numbers */
	struct groups groups; /* of the sides, as those of the runs are */
	struct comparison comparison;
};

struct steps {
	enum step_kind kind; /* set before runs are added */
	struct step *list;   /* owned; in the order of first appearance */
	size_t nr, room;
	json_t *index;   /* owned; key of the path -> number */
	size_t nr_sides; /* allocated in each step */
	uint64_t left_out;
};

/* Return "span" and "spans". */
const char *step_kind_name(enum step_kind kind);
const char *step_kind_names(enum step_kind kind);
/* Returns what is counted in a step, as the title of a column: of a program "procs". */
const char *step_kind_counted(enum step_kind kind);
/* Adds the steps of run number @run from @src; call it for each run of bpfmon, in order. Errors as
 * source_each(), and -ENOMEM. */
int steps_add_run(struct steps *all, size_t run, struct source *src);
/* Compares each step in the groups @g of @runs, which must live as long. -ENOMEM. */
int steps_compare(struct steps *all, const struct groups *g, const struct sides *runs);
void steps_done(struct steps *all);

#endif
