/* SPDX-License-Identifier: BSD-2-Clause */
/* The tags of a span, from an object of JSON: "key=value", one behind the other in one text. */
#ifndef RUN_LABEL_H
#define RUN_LABEL_H

#include "run/span.h"

#include <jansson.h>

/* The bytes that all members of @tags, which may be NULL, take in the text. */
size_t label_measure_tags(json_t *tags);
/* Appends a tag, of which the text begins at *@at, to @label, which has room for it; *@at is behind
 * it then. @value is a string. */
void label_add_tag(struct span_label *label, char **at, const char *key, const json_t *value);

#endif
