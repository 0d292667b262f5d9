/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as CSV: a row for each value of each group. */
#ifndef STUDY_COMPARE_CSV_H
#define STUDY_COMPARE_CSV_H

#include "base/buffer.h"
#include "study/step.h"

/* @steps: NULL, or their rows follow those of the runs; a column has their names then. */
void comparison_csv(struct buffer *t, const struct comparison *c, const struct steps *steps);

#endif
