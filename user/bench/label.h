/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of cases, and of their spans, as the first cells of tables. */
#ifndef BENCH_LABEL_H
#define BENCH_LABEL_H

#include "bench/result.h"

#include <stdio.h>

#define CELL_WIDTH 11  /* with the two blanks before it */
#define LEAST_LABEL 16 /* columns */

/*
 * Writes @label in @width columns or fewer, cut in the middle: commands differ at their beginning
 * or at their end. Returns the columns used.
 */
size_t case_label_put(FILE *f, const char *label, size_t width);
/* The first cell of a row, which is @width columns wide, behind two blanks. */
void case_label_begin(FILE *f, const char *label, size_t width);
/* How wide these cells are where the others take @cells columns: as the longest label, but cut
 * where the line would be wider than @width. */
size_t label_width(size_t longest, size_t width, size_t cells);
/* The columns of the longest name of a case. */
size_t label_longest(const struct bench_result *r);
/* The group that is @nth in the order of the plan. */
size_t group_at(const struct bench_result *r, size_t nth);

#endif
