/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of a span, for formats with a row for each: those of its summary, one by one. */
#ifndef EXPORT_SPAN_FIELDS_H
#define EXPORT_SPAN_FIELDS_H

#include "run/span.h"
#include "run/summary_field.h"

#include <jansson.h>

/* Whether @f is a single value (no object, list or counter, which are metrics) and @s has it. */
bool span_has_field(const struct span *s, const struct summary_field *f);
/* The tags as an object, to be released with json_decref(); NULL without memory. */
json_t *span_make_tags(const struct span_label *label);

#endif
