/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints advice as text, as JSON, and as directives of schedulers and workflow systems. */
#ifndef STUDY_ADVISE_TEXT_H
#define STUDY_ADVISE_TEXT_H

#include "base/json.h"
#include "study/advice.h"

#include <stdio.h>

enum advice_for { FOR_PEOPLE, FOR_SLURM, FOR_KUBERNETES, FOR_NEXTFLOW, FOR_SNAKEMAKE, NR_FOR };

/* Values of --for; NULL for FOR_PEOPLE. */
extern const char *const advice_for_words[NR_FOR];

/* Print the advice. @what names its runs, such as "align"; NULL means all runs. */
void advice_print(FILE *f, const struct advice *a, const char *what);
/* Prints the table of needs and requests. */
void advice_print_needs(FILE *f, const struct advice *a);
/* Writes members of an object, the first with the key @of. */
void advice_json_members(struct jsonw *j, const struct advice *a, const char *of, uint64_t nr);
void advice_json(struct jsonw *j, const struct advice *a, const char *what);
/* Prints the directives for @to, which is not FOR_PEOPLE. */
void advice_lines(FILE *f, const struct advice *a, enum advice_for to);

#endif
