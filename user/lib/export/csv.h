/* SPDX-License-Identifier: BSD-2-Clause */
/* CSV (RFC 4180): the samples, a column a metric. An empty cell means "not read". */
#ifndef EXPORT_CSV_H
#define EXPORT_CSV_H

#include "base/buffer.h"
#include "run/sample.h"
#include "run/span.h"
#include "run/summary_field.h"

#include <jansson.h>

void csv_header(struct buffer *t, const struct metric_set *columns);
void csv_row(struct buffer *t, const struct metric_set *columns, uint64_t start_epoch_ns,
	     const struct sample *s);

/* The values of a span, for formats with a row for each: those of its summary, one by one. */

/* Whether @f is a single value (no object, list or counter, which are metrics) and @s has it. */
bool span_has_field(const struct span *s, const struct member *f);
/* The tags as an object, to be released with json_decref(); NULL without memory. */
json_t *span_make_tags(const struct span_label *label);

#endif
