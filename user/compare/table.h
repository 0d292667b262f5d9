/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of one group beside those of the first, a row for each. */
#ifndef COMPARE_TABLE_H
#define COMPARE_TABLE_H

#include "compare/compare.h"

#include <stdio.h>

/* Of columns that do not fit in @width those go first that say least. */
void comparison_table(FILE *f, const struct comparison *c, size_t group, size_t width);

#endif
