/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon show --by span. */
#ifndef BPFMON_SHOW_SPANS_H
#define BPFMON_SHOW_SPANS_H

#include "base/json.h"
#include "run/phase.h"
#include "store/source_phases.h"

/* The spans of a run by their paths, and what they used. */
struct spans_shown {
	struct span_paths paths;
	struct span_sums sums;
};

/* To be given to spans_shown_done(), also after an error. Errors of source_each(), and -ENOMEM. */
int spans_shown_read(struct spans_shown *shown, struct source *s, bool is_each);
/* As members of an object: the paths with their sums, and what @run used outside of them. */
void spans_json(struct jsonw *j, const struct spans_shown *shown, const struct summary *run);
/* As a member: the lines of the spans as they were written, in their order. As spans_shown_read().
 */
int spans_json_each(struct jsonw *j, struct source *s);
void spans_shown_done(struct spans_shown *shown);

/* bpfmon show --by phase. */

/* The phases as a list in JSON, with the keys of metrics. */
void phases_json(struct jsonw *j, const struct phases *p);
/* What those of each name used together, and what cannot be told apart. -ENOMEM. */
int phase_sums_json(struct jsonw *j, const struct phases *p);

#endif
