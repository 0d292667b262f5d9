/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks, phases and spans of a run, read from its source. */
#ifndef STORE_SOURCE_PHASES_H
#define STORE_SOURCE_PHASES_H

#include "run/phase.h"
#include "run/span_sums.h"
#include "store/source.h"

/* Adds a line of the kind event to @p, if it is a mark. One that does not fit is counted there. */
void marks_add(struct phases *p, const struct line *l);
/* The same for the times of phases alone. */
void marks_add_time(struct phase_times *t, const struct line *l);
/* Adds all marks of the run to @t; to be freed by phase_times_done(). Errors of source_each(). */
int marks_read_times(struct phase_times *t, struct source *s);
/* Folds the run, which took @wall_ns, into its phases; to be freed by phases_done(). Errors of
 * source_each(). */
int phases_read(struct phases *p, struct source *s, uint64_t wall_ns);

/* Reads the paths of the run's spans, @is_each: one of each; to be freed by span_paths_done(), also
 * after an error. Errors of source_each(), and -ENOMEM. */
int spans_read_paths(struct source *s, bool is_each, struct span_paths *p);
/* What the spans of each path used; to be freed by span_sums_done(). The same errors. */
int spans_read_sums(struct source *s, const struct span_paths *p, struct span_sums *sums);

#endif
