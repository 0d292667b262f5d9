/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison of steps as tables for a terminal: one for each value, with a row for each step. */
#ifndef STUDY_STEPS_TEXT_H
#define STUDY_STEPS_TEXT_H

#include "study/step.h"

#include <stdio.h>

/* The keys of which there is a table, into @order (NR_KEYS): CPU time, wall time, peak, and those
 * of
 * @keys (@nr) that are none of these. Returns how many. */
size_t steps_choose_keys(size_t *order, const size_t *keys, size_t nr);
/*
 * Of CPU time, wall time, peak and those @keys (@nr of them) that are none of these. @c: of the
 * runs, whose row is the last. As comparison_text() besides.
 */
void steps_text(FILE *f, const struct steps *steps, const struct comparison *c, const json_t *diff,
		const size_t *keys, size_t nr, size_t width);

#endif
