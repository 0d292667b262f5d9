/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the spans of a run as a table for a terminal or in Markdown. */
#ifndef TEXT_SPANS_TEXT_H
#define TEXT_SPANS_TEXT_H

#include "run/span_sums.h"

/*
 * Returns a table: a row per path, below the path that contains it; below a path of several spans
 * their smallest and largest values; then the use outside of spans, and the run. The caller frees
 * it. NULL without memory. @is_each says that each path is a single span. No line is longer than
 * @width columns (at least 32): columns are left out from the right, and names are cut. A width of
 * 0 selects a whole table in Markdown.
 */
char *spans_text(const struct span_paths *p, const struct span_sums *s, const struct summary *run,
		 bool is_each, size_t width);

#endif
