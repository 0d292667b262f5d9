/* SPDX-License-Identifier: BSD-2-Clause */
/* What jansson has read, written by our own writer: jansson's leaves characters as they are that
 * steer a terminal. */
#ifndef RUN_TREE_H
#define RUN_TREE_H

#include "base/buffer.h"
#include "base/json.h"

#include <jansson.h>
#include <stdio.h>

/* Appends @v under @key, as those of base/json.h do; @v of NULL as null. */
void tree_write(struct jsonw *j, const char *key, const json_t *v);
/* Appends the texts of @list with blanks between, inert for a terminal. Whether there are any. */
bool tree_put_words(struct buffer *t, const json_t *list);
/* Prints the texts and whole numbers of @list with blanks between, as they are. */
void tree_print_words(FILE *f, const json_t *list);

#endif
