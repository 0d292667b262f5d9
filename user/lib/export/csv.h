/* SPDX-License-Identifier: BSD-2-Clause */
/* CSV (RFC 4180) of samples, with a column per metric. An empty cell means "not read". */
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

/* Values of a span's summary, for formats with a row per span. */

/* Returns true if @f is a single value (no object, list or counter) and @s has it. */
bool span_has_field(const struct span *s, const struct member *f);
/* Returns the tags as an object that the caller releases; NULL if memory runs out. */
json_t *span_make_tags(const struct span_label *label);

#endif
