/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of programs in the summary. */
#ifndef TEXT_PROGRAMS_TEXT_H
#define TEXT_PROGRAMS_TEXT_H

#include "run/summary.h"

#include <stdio.h>

/*
 * Ten, the heaviest first, and "others". In @width columns, unless that is 0: names are cut, then
 * columns are left out.
 */
void programs_text(FILE *f, const struct summary *s, size_t width);

#endif
