/* SPDX-License-Identifier: BSD-2-Clause */
/* A run's facts and summary in Markdown, for a pull request or a paper. */
#ifndef TEXT_SUMMARY_MARKDOWN_H
#define TEXT_SUMMARY_MARKDOWN_H

#include "text/summary_text.h"

#include <jansson.h>
#include <stdio.h>

/* The run's name, else its command, as a heading, and what the meta line has of it. */
void meta_markdown(FILE *f, const json_t *meta);
/* The lines of the summary's text, and the heaviest programs. */
void summary_markdown(FILE *f, const struct summary *s, const struct summary_view *view);

#endif
