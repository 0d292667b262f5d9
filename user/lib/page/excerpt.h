/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of any length, cut to what a page can show; an ellipsis marks the cut. */
#ifndef PAGE_EXCERPT_H
#define PAGE_EXCERPT_H

#include "base/json.h"

#include <jansson.h>

#define EXCERPT_NOTE "\xe2\x80\xa6" /* an ellipsis, where something was cut */

enum excerpt_cut { CUT_START, CUT_END }; /* what is cut off */

/* Returns the length of the longest beginning of @text of up to @max bytes that ends between
 * characters. */
size_t excerpt_length(const char *text, size_t length, size_t max);
/*
 * Returns a copy of @text, to be freed; if it is longer than @max bytes, EXCERPT_NOTE and its end.
 * NULL without memory.
 */
char *excerpt_keep_end(const char *text, size_t max);
/* Returns the bytes that @text takes in a page, where "<" and control characters take six each. */
size_t excerpt_cost(const char *text);
/* Writes @text as an element of an array, cut to @max bytes of the page. */
void excerpt_put(struct jsonw *j, const char *text, size_t max, enum excerpt_cut cut);
/* Writes @v, with each text in it cut to @max bytes, and each array to @items elements. */
void excerpt_write(struct jsonw *j, const char *key, const json_t *v, size_t max, size_t items);
/* As excerpt_write(); while that takes more than @bytes in a page, texts are cut to half as much.
 */
void excerpt_fit(struct jsonw *j, const char *key, const json_t *v, size_t max, size_t items,
		 size_t bytes);
/*
 * @args, each ended by NUL, joined and quoted as for a shell, and cut to @max bytes; @is_cut: they
 * were cut before, which is marked in the same way. Owned by the caller; NULL without memory.
 */
char *excerpt_join(const char *args, size_t length, bool is_cut, size_t max);

#endif
