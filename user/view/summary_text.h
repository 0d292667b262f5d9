/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary as it is shown at the end of a run. */
#ifndef VIEW_SUMMARY_TEXT_H
#define VIEW_SUMMARY_TEXT_H

#include "model/summary.h"

/*
 * To be freed; NULL without memory. Ten programs, the heaviest first, and "others". No line is
 * longer than @width columns (40 at least), unless that is 0: of the programs columns are left out,
 * and other lines go on below.
 */
char *summary_text(const struct summary *s, size_t width);

#endif
