/* SPDX-License-Identifier: BSD-2-Clause */
/* Cuts texts of any length to what a page can show. An ellipsis marks the cut. */
#ifndef PAGE_EXCERPT_H
#define PAGE_EXCERPT_H

#include "base/json.h"

#include <jansson.h>

#define EXCERPT_NOTE "\xe2\x80\xa6"

enum excerpt_cut { CUT_START, CUT_END }; /* which part is removed */

/*
 * Returns the length of the longest prefix of @text that has up to @max bytes and ends between
 * characters.
 */
size_t excerpt_length(const char *text, size_t length, size_t max);
/*
 * Returns a copy of @text. If it is longer than @max bytes, it is EXCERPT_NOTE and the end of
 * @text. The caller frees it. NULL without memory.
 */
char *excerpt_keep_end(const char *text, size_t max);
/* Returns the bytes that @text takes in a page, where "<" and control characters take six each. */
size_t excerpt_cost(const char *text);
/* Writes @text as an element of an array, cut to @max bytes of the page. */
void excerpt_put(struct jsonw *j, const char *text, size_t max, enum excerpt_cut cut);
/* Writes @v with each text cut to @max bytes and each array cut to @items elements. */
void excerpt_write(struct jsonw *j, const char *key, const json_t *v, size_t max, size_t items);
/* Like excerpt_write(), but halves @max until the result takes at most @bytes of a page. */
void excerpt_fit(struct jsonw *j, const char *key, const json_t *v, size_t max, size_t items,
		 size_t bytes);
/*
 * Joins the NUL-terminated strings @args, quoted for a shell and cut to @max bytes. @is_cut says
 * that they were cut before, which is marked in the same way. The caller frees the result. NULL
 * without memory.
 */
char *excerpt_join(const char *args, size_t length, bool is_cut, size_t max);

#endif
