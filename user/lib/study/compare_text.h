/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison as a table for a terminal. */
#ifndef STUDY_COMPARE_TEXT_H
#define STUDY_COMPARE_TEXT_H

#include "study/compare_rows.h"

#include <stdio.h>

/*
 * The groups, a verdict on each, a table for each with the rows that @choice has, and what else
 * changed. @diff comes from facts_diff(). Lines are @width columns at most, as far as that can be.
 */
void comparison_text_of(FILE *f, const struct comparison *c, const json_t *diff,
			const struct row_choice *choice, size_t width);
/* The same with all rows. */
void comparison_text(FILE *f, const struct comparison *c, const json_t *diff, size_t width);
/* What stands before its tables, and behind them. */
void comparison_text_begin(FILE *f, const struct comparison *c, const json_t *diff, size_t width);
void comparison_text_end(FILE *f, const struct comparison *c, const json_t *diff, size_t width);
/* The letter that stands for a group in it; after 26 its number. */
char *group_label(char out[24], size_t group);

#endif
