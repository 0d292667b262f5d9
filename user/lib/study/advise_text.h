/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice for people, for programs, and as the lines of whatever starts runs. */
#ifndef STUDY_ADVISE_TEXT_H
#define STUDY_ADVISE_TEXT_H

#include "base/json.h"
#include "study/advice.h"

#include <stdio.h>

enum advice_for { FOR_PEOPLE, FOR_SLURM, FOR_KUBERNETES, FOR_NEXTFLOW, FOR_SNAKEMAKE, NR_FOR };

/* The words of --for, by that; the first has none. */
extern const char *const advice_for_words[NR_FOR];

/* @what: of which runs, as "align"; NULL: of all. */
void advice_print(FILE *f, const struct advice *a, const char *what);
void advice_json(struct jsonw *j, const struct advice *a, const char *what);
/* The lines for @to, any but FOR_PEOPLE. */
void advice_lines(FILE *f, const struct advice *a, enum advice_for to);

#endif
