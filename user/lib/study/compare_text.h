/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as a table for a terminal. */
#ifndef STUDY_COMPARE_TEXT_H
#define STUDY_COMPARE_TEXT_H

#include "study/compare.h"
#include "study/step.h"

#include <stdio.h>

/*
 * The groups, a verdict on each, a table for each with the rows that @choice has, and what else
 * changed. @diff comes from facts_diff(). Lines are @width columns at most, as far as that can be.
 */
void comparison_text_of(FILE *f, const struct comparison *c, const json_t *diff,
			const struct row_choice *choice, size_t width);
/* The same with all rows. */
void comparison_text(FILE *f, const struct comparison *c, const json_t *diff, size_t width);

/* A comparison of steps as tables for a terminal: one for each value, with a row for each step. */

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
