/* SPDX-License-Identifier: BSD-2-Clause */
/* The cells of a comparison's table: a value of one group next to that of the first. */
#ifndef STUDY_CELL_H
#define STUDY_CELL_H

#include "study/compare.h"

#define CELL_BYTES 96

/* The columns of a row, which compares one group with the first by one key. */
enum comparison_column {
	COL_KEY,
	COL_FIRST,
	COL_FIRST_IQR,
	COL_OTHER,
	COL_OTHER_IQR,
	COL_DIFFERENCE,
	COL_RELATIVE,
	COL_P,
	COL_VERDICT,
	NR_COMPARISON_COLUMNS
};

/* Write the text of a cell, and of the title of a column. */
void comparison_cell(char out[CELL_BYTES], const struct comparison *c, size_t group,
		     enum comparison_column col, size_t key);
void comparison_title(char out[CELL_BYTES], const struct comparison *c, size_t group,
		      enum comparison_column col);

/* Returns whether the column has anything: spreads and tests need several runs. */
bool comparison_has_column(const struct comparison *c, size_t group, enum comparison_column col);

#define SHORT_TITLE 12 /* columns */

/* Cuts the names of the sides above their columns to @most columns, or to the widest cell. */
void comparison_titles_cut(size_t width[NR_COMPARISON_COLUMNS],
			   const size_t cells[NR_COMPARISON_COLUMNS], size_t most);

#endif
