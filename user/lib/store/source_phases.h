/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks, phases, stalls and spans of a run, read from its source. */
#ifndef STORE_SOURCE_PHASES_H
#define STORE_SOURCE_PHASES_H

#include "run/phase.h"
#include "run/span_sums.h"
#include "run/stall_state.h"
#include "store/source.h"

/* Adds a line of the kind event to @p if it is a mark. Marks beyond the limit are only counted. */
void marks_add(struct phases *p, const struct line *l);
/* Adds it to the times of phases. */
void marks_add_time(struct phase_times *t, const struct line *l);
/*
 * Adds all marks of the run to @t, which phase_times_done() frees, and its stalls to @stalls.
 * Errors as source_each().
 */
int events_read(struct source *s, struct phase_times *t, struct stalls *stalls);
/*
 * Folds a run of @wall_ns into its phases; free them with phases_done(). Errors as source_each().
 */
int phases_read(struct phases *p, struct source *s, uint64_t wall_ns);

/*
 * Reads the paths of the run's spans; with @is_each every span gets its own. Free them with
 * span_paths_done(), also after an error. Errors as source_each(), and -ENOMEM.
 */
int spans_read_paths(struct source *s, bool is_each, struct span_paths *p);
/* Finds the longest span. Errors as source_each(). */
int spans_read_longest(struct source *s, struct longest_span *longest);
/*
 * Sums what the spans of each path used; free it with span_sums_done(). Errors as
 * spans_read_paths().
 */
int spans_read_sums(struct source *s, const struct span_paths *p, struct span_sums *sums);

#endif
