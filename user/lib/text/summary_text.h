/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the summary of a run as text and in Markdown. */
#ifndef TEXT_SUMMARY_TEXT_H
#define TEXT_SUMMARY_TEXT_H

#include "run/span_sums.h"
#include "text/answer.h"

#include <jansson.h>
#include <stdio.h>

/* Context of a summary, and how to show it. */
struct summary_view {
	const struct answer *answer;      /* NULL to derive it from the summary alone */
	const char *what;                 /* command or target for the first line; may be NULL */
	const struct longest_span *spans; /* NULL: not known */
	const char *run; /* name of a run that is not kept just now, for `bpfmon show`; or NULL */
	bool is_running; /* the run has not ended; the summary covers its lines so far */
	bool is_of_job;  /* of a job of the node, which has no lineage */
	bool is_without_instances; /* omit instances and latencies */
	bool has_bounds;           /* show both bounds of a peak that is not exact */
	bool is_short;             /* only the result, the request, the main figures and trouble */
	bool has_styles;           /* keep style marks in the text, for terminal_paint() */
};

/*
 * Returns the summary. The caller frees it. NULL without memory. @v may be NULL. If @width (at
 * least 40) is not 0, no line is longer: columns of the programs are left out, and other lines are
 * folded.
 */
char *summary_text(const struct summary *s, const struct summary_view *v, size_t width);

/* Writes the name of the run, else its command, as a heading, and the facts of the meta line. */
void meta_markdown(FILE *f, const json_t *meta);
/* Writes the lines of the summary, the heaviest programs, instances and latencies. */
void summary_markdown(FILE *f, const struct summary *s, const struct summary_view *view);

#endif
