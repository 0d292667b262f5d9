/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes Markdown as GitHub renders it. Texts may be untrusted and are always escaped. */
#ifndef TEXT_MARKDOWN_H
#define TEXT_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Writes @text, also in a table cell, with everything escaped that Markdown or HTML would
 * interpret.
 */
void markdown_text(FILE *f, const char *text);
/* Writes @text as inline code, for commands and paths, cut after @width columns. */
void markdown_code(FILE *f, const char *text, size_t width, bool is_cell);
/* Writes the head of a table: the first column is for text, the others are for numbers. */
void markdown_head(FILE *f, const char *const *titles, size_t nr);
/*
 * Converts lines in the format of the summary (a title of up to 11 columns, then text) into tables
 * of two columns. Continuation lines are appended to the cell above. Other lines become paragraphs;
 * one that begins with "bpfmon: " is printed bold without that prefix.
 */
void markdown_facts(FILE *f, const char *lines);
/* Writes preformatted @lines as a code block. The last line must end with a newline. */
void markdown_block(FILE *f, const char *lines);

#endif
