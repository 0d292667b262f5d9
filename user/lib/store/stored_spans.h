/* SPDX-License-Identifier: BSD-2-Clause */
/* The spans of a run that was recorded. */
#ifndef STORE_STORED_SPANS_H
#define STORE_STORED_SPANS_H

#include "run/span_sums.h"
#include "store/source.h"

/* Reads the paths of the run's spans, @is_each: one of each; to be freed by span_paths_done(), also
 * after an error. Errors of source_each(), and -ENOMEM. */
int spans_read_paths(struct source *s, bool is_each, struct span_paths *p);
/* What the spans of each path used; to be freed by span_sums_done(). The same errors. */
int spans_read_sums(struct source *s, const struct span_paths *p, struct span_sums *sums);

#endif
