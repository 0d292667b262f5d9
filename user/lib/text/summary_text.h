/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary as it is shown at the end of a run. */
#ifndef TEXT_SUMMARY_TEXT_H
#define TEXT_SUMMARY_TEXT_H

#include "text/answer.h"

#include <jansson.h>
#include <stdio.h>

/* What is shown beside what the summary itself has. */
struct summary_view {
	const struct answer *answer; /* NULL: made of the summary alone */
	const char *what;            /* what was run or attached to, for the first line; or NULL */
	bool is_running;             /* it goes on: the summary is of its lines so far */
	bool is_without_instances;   /* their values and latencies are shown elsewhere */
	bool has_bounds; /* memory with its bounds, where its peak is not known exactly */
	bool has_styles; /* marks of style are in the text, for terminal_paint() */
};

/*
 * To be freed; NULL without memory. @v may be NULL. Ten programs, the heaviest first, and "others".
 * No line is longer than @width columns (40 at least), unless that is 0: of the programs columns
 * are left out, and other lines go on below.
 */
char *summary_text(const struct summary *s, const struct summary_view *v, size_t width);

/* A run's facts and summary in Markdown, for a pull request or a paper. */

/* The run's name, else its command, as a heading, and what the meta line has of it. */
void meta_markdown(FILE *f, const json_t *meta);
/* The lines of the summary's text, and the heaviest programs. */
void summary_markdown(FILE *f, const struct summary *s, const struct summary_view *view);

#endif
