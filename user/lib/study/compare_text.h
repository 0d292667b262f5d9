/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes a comparison: verdict, tables for a terminal, Markdown for pull requests. */
#ifndef STUDY_COMPARE_TEXT_H
#define STUDY_COMPARE_TEXT_H

#include "study/compare.h"
#include "study/step.h"

#include <stdio.h>

/*
 * Prints the groups, a verdict and a table with the rows of @choice for each, and other changes in
 * @diff, which is that of facts_diff(). Lines have at most @width columns if possible.
 */
void comparison_text_of(FILE *f, const struct comparison *c, const json_t *diff,
			const struct row_choice *choice, size_t width);
/* Print what stands before the tables, and what follows them. */
void comparison_text_begin(FILE *f, const struct comparison *c, const json_t *diff, size_t width);
void comparison_text_end(FILE *f, const struct comparison *c, const json_t *diff, size_t width);
/* Prints the comparison with all rows. */
void comparison_text(FILE *f, const struct comparison *c, const json_t *diff, size_t width);

/*
 * Writes the keys of the tables of steps to @order (NR_KEYS): CPU time, wall time, peak, then
 * others of the @nr @keys. Returns their number.
 */
size_t steps_choose_keys(size_t *order, const size_t *keys, size_t nr);
/*
 * Prints a table for each of these keys, with a row for each step and a last row for the runs (@c).
 * Otherwise as comparison_text().
 */
void steps_text(FILE *f, const struct steps *steps, const struct comparison *c, const json_t *diff,
		const size_t *keys, size_t nr, size_t width);

/*
 * Writes Markdown: differences first, the rest folded. If @steps is not NULL, its tables for the
 * @nr @keys replace the table of all values. @diff is that of facts_diff().
 */
void comparison_markdown(FILE *f, const struct comparison *c, const struct steps *steps,
			 const size_t *keys, size_t nr, const json_t *diff);

/*
 * Returns the verdict on @group against the first, with a full stop and without a newline, to be
 * freed; NULL without memory. It mentions no change that may be noise, and says if there are too
 * few runs to tell. @facts is the number of other differences between the runs.
 */
char *verdict_text(const struct comparison *c, size_t group, size_t facts);

#endif
