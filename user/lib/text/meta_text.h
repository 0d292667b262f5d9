/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines above the summary, from the meta line of the run. */
#ifndef TEXT_META_TEXT_H
#define TEXT_META_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* Writes the command, or what was attached to, after the name if there is one; may be nothing. */
void meta_what(FILE *f, const json_t *meta);
/*
 * Returns the run in one line, to be freed: its name, else its command or what was attached to; its
 * tags; its start. NULL if it has none of these, or without memory.
 */
char *meta_title(const json_t *meta);
/* Writes the lines of @meta; absent values have none. Lines are cut at @width columns. */
void meta_text(FILE *f, const json_t *meta, size_t width);
/* Returns what @write writes, to be freed; NULL without memory. */
char *meta_made(const json_t *meta, void (*write)(FILE *f, const json_t *meta));

#endif
