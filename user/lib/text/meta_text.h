/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run was, from its meta line: the lines above its summary. */
#ifndef TEXT_META_TEXT_H
#define TEXT_META_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* What was run or attached to, below its name if it has one, in one line; may be nothing. */
void meta_what(FILE *f, const json_t *meta);
/*
 * The run in one line: its name, else what was run or attached to; its tags; when it began. To be
 * freed; NULL where it has none of these, or without memory.
 */
char *meta_title(const json_t *meta);
/* Writes the lines of @meta; absent values have none. Lines are cut at @width columns. */
void meta_text(FILE *f, const json_t *meta, size_t width);
/* What @write makes of @meta; to be freed, NULL without memory. */
char *meta_made(const json_t *meta, void (*write)(FILE *f, const json_t *meta));

#endif
