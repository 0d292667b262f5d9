/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks of a run that was recorded, and the phases that they begin. */
#ifndef STORE_MARKS_H
#define STORE_MARKS_H

#include "run/phase.h"
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

#endif
