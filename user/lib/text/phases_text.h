/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the phases of a run as a table for a terminal or in Markdown. */
#ifndef TEXT_PHASES_TEXT_H
#define TEXT_PHASES_TEXT_H

#include "run/phase.h"

/*
 * Returns a table with a row per name of a phase, or per phase if @is_each. The caller frees it.
 * NULL without memory. No line is longer than @width columns (at least 32): columns are left out
 * from the right, and names are cut. A width of 0 selects a whole table in Markdown.
 */
char *phases_text(const struct phases *p, bool is_each, size_t width);

#endif
