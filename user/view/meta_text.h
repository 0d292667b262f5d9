/* SPDX-License-Identifier: BSD-2-Clause */
/* What a run was, from its meta line: the lines above its summary. */
#ifndef VIEW_META_TEXT_H
#define VIEW_META_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* A list of texts or whole numbers, in one line. */
void meta_words(FILE *f, const json_t *list);
/* Writes the lines of @meta; absent values have none. Lines are cut at @width columns. */
void meta_text(FILE *f, const json_t *meta, size_t width);

#endif
