/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary as it is shown at the end of a run. */
#ifndef VIEW_SUMMARY_TEXT_H
#define VIEW_SUMMARY_TEXT_H

#include "model/summary.h"

#include <stdio.h>

/* Ten programs, the heaviest first, and "others". */
void summary_text(FILE *f, const struct summary *s);

#endif
