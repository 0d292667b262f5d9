/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of one group beside those of the first, a row for each. */
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include "compare/rows.h"

#include <stdio.h>

/* The rows that @choice has (NULL: as few as there can be), and how many values have none. Of
 * columns that do not fit in @width those go first that say least. */
void comparison_table(FILE *f, const struct comparison *c, size_t group,
		      const struct row_choice *choice, size_t width);

#endif
