/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of Markdown, as GitHub renders it. Texts may be untrusted: they are inert. */
#ifndef TEXT_MARKDOWN_H
#define TEXT_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* @text as text, in a cell too: what Markdown or HTML would take for its own is escaped. */
void markdown_text(FILE *f, const char *text);
/* The same as code, for commands and paths, cut to its first @width columns. @is_cell: in a table.
 */
void markdown_code(FILE *f, const char *text, size_t width, bool is_cell);
/* The head of a table: the first column is for text, the others for numbers. */
void markdown_head(FILE *f, const char *const *titles, size_t nr);
/*
 * Lines as those of the summary, a title of 11 columns and a text behind it, as a table of two
 * columns; a text that goes on below is one. Other lines are paragraphs, that which begins with
 * "bpfmon: " without this and bold.
 */
void markdown_facts(FILE *f, const char *lines);
/* Lines that are aligned already, the last one with its newline. */
void markdown_block(FILE *f, const char *lines);

#endif
