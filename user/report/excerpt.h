/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of unknown length, cut to what a page can show; that they are cut is told in them. */
#ifndef REPORT_EXCERPT_H
#define REPORT_EXCERPT_H

#include "base/json.h"

#include <jansson.h>

#define EXCERPT_NOTE "\xe2\x80\xa6" /* an ellipsis is where something was cut */

enum excerpt_cut { CUT_START, CUT_END }; /* where it is cut */

/* The most bytes of @text, up to @max, that do not end within a character. */
size_t excerpt_length(const char *text, size_t length, size_t max);
/* A copy of @text; of a longer one the last @max bytes, the note included. To be freed. */
char *excerpt_keep_end(const char *text, size_t max);
/* What @text takes in a page: there "<" and what cannot be seen take six bytes each. */
size_t excerpt_cost(const char *text);
/* Writes @text as an element; of one that takes more than @max bytes in a page so much. */
void excerpt_put(struct json *j, const char *text, size_t max, enum excerpt_cut cut);
/* Writes @v, each text in it cut to @max bytes, each list to @items. */
void excerpt_write(struct json *j, const char *key, const json_t *v, size_t max, size_t items);
/* The same, with shorter texts where it would take more than @bytes in a page. */
void excerpt_fit(struct json *j, const char *key, const json_t *v, size_t max, size_t items,
		 size_t bytes);
/*
 * @args, each ended by NUL, as one text as a shell would take them, cut to @max bytes (or @is_cut
 * before: it is told in the same way); to be freed. NULL without memory.
 */
char *excerpt_join(const char *args, size_t length, bool is_cut, size_t max);

#endif
