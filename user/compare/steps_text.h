/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison of steps as tables for a terminal: one for each value, with a row for each step. */
#ifndef COMPARE_STEPS_TEXT_H
#define COMPARE_STEPS_TEXT_H

#include "compare/step.h"

#include <stdio.h>

/*
 * Of CPU time, wall time, peak and those @keys (@nr of them) that are none of these. @c: of the
 * runs, whose row is the last. As comparison_text() besides.
 */
void steps_text(FILE *f, const struct steps *steps, const struct comparison *c, const json_t *diff,
		const size_t *keys, size_t nr, size_t width);

#endif
