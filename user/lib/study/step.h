/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares runs step by step. A step is what the spans of one path, the phases of one name, or the
 * processes of one program used in a run: sums, and the maximum of peaks. Equal paths are the same
 * step in all runs.
 */
#ifndef STUDY_STEP_H
#define STUDY_STEP_H

#include "study/compare.h"

#define MAX_STEPS 4096 /* more are left out and counted */

enum step_kind { STEP_PHASE, STEP_PROGRAM, STEP_SPAN, NR_STEP_KINDS };
#define STEP_WORDS "phase", "program", "span" /* as typed, in the order of step_kind */

struct step {
	json_t *path;         /* owned; names, the outermost first */
	char *name;           /* owned; the path joined by '/' */
	struct side *sides;   /* owned; [run]; only their values are set */
	size_t *spans;        /* owned; [run]; number of phases, processes or spans */
	double *counts;       /* owned; [group]; median of these numbers */
	struct groups groups; /* of @sides, like the groups of the runs */
	struct comparison comparison;
};

struct steps {
	enum step_kind kind; /* set before runs are added */
	struct step *list;   /* owned; in the order of first appearance */
	size_t nr, room;
	json_t *index;   /* owned; key of the path -> index */
	size_t nr_sides; /* runs with room in each step */
	uint64_t left_out;
};

/* Return "span" and "spans", for example. */
const char *step_kind_name(enum step_kind kind);
const char *step_kind_names(enum step_kind kind);
/* Returns the title of the column of counts; for programs "procs". */
const char *step_kind_counted(enum step_kind kind);
/*
 * Adds the steps of run number @run from @src. Call it for each run of bpfmon, in order. Errors as
 * source_each(), and -ENOMEM.
 */
int steps_add_run(struct steps *all, size_t run, struct source *src);
/*
 * Compares each step between the groups @g of @runs, which must outlive @all. Returns 0 or -ENOMEM.
 */
int steps_compare(struct steps *all, const struct groups *g, const struct sides *runs);
void steps_done(struct steps *all);

#endif
