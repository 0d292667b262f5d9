/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the phases or the spans of a run as a table for a terminal or in Markdown. */
#ifndef TEXT_SPANS_TEXT_H
#define TEXT_SPANS_TEXT_H

#include "run/phase.h"
#include "run/span_sums.h"

/*
 * Returns a table with a row per name of a phase, or per phase if @is_each. The caller frees it.
 * NULL without memory. No line is longer than @width columns (at least 32): columns are left out
 * from the right, and names are cut. A width of 0 selects a whole table in Markdown.
 */
char *phases_text(const struct phases *p, bool is_each, size_t width);

struct spans_view {
	bool is_each;       /* each path is a single span */
	bool has_spread;    /* below a path of several spans: their smallest and largest values */
	bool is_markdown;   /* a whole table in Markdown; ignores the width */
	size_t width;       /* columns, at least 32; 0: any number */
	uint64_t nr_hidden; /* paths that span_paths_sort() has hidden */
};

/*
 * Returns a table: a row per path, below the path that contains it; then the use outside of spans,
 * and the run. The caller frees it. NULL without memory. No line is longer than the width: columns
 * are left out from the right, and names are cut.
 */
char *spans_text(const struct span_paths *p, const struct span_sums *s, const struct summary *run,
		 const struct spans_view *view);

#endif
