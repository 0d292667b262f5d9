/* SPDX-License-Identifier: BSD-2-Clause */
/* CSV (RFC 4180): the samples, a column a metric. An empty cell means "not read". */
#ifndef RUN_CSV_H
#define RUN_CSV_H

#include "base/buffer.h"
#include "run/sample.h"

void csv_header(struct buffer *t, const struct metric_set *columns);
void csv_row(struct buffer *t, const struct metric_set *columns, uint64_t start_epoch_ns,
	     const struct sample *s);

#endif
