/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary's lines on memory. */
#ifndef TEXT_MEMORY_TEXT_H
#define TEXT_MEMORY_TEXT_H

#include "run/summary.h"

#include <stdio.h>

/* @has_bounds: of a peak that is not known exactly its bounds, and what they are. */
void memory_text(FILE *f, const struct summary *s, bool has_bounds);

#endif
