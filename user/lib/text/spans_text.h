/* SPDX-License-Identifier: BSD-2-Clause */
/* The spans of a run as a table for a terminal, or of Markdown. */
#ifndef TEXT_SPANS_TEXT_H
#define TEXT_SPANS_TEXT_H

#include "run/span_sums.h"

/*
 * A header; a row for each path, below the one that it is in, and below that the smallest and the
 * largest of several spans; what the run used outside of them; and the run. To be freed; NULL
 * without memory. @is_each: each path is one span. No line is longer than @width columns (32 at
 * least): what does not fit is left out from the right, and of a name its beginning. Of width 0:
 * all of it, as a table of Markdown.
 */
char *spans_text(const struct span_paths *p, const struct span_sums *s, const struct summary *run,
		 bool is_each, size_t width);

#endif
