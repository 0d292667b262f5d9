/* SPDX-License-Identifier: BSD-2-Clause */
/* `bpfmon show --by span` and `--by phase`. */
#ifndef BPFMON_SHOW_SPANS_H
#define BPFMON_SHOW_SPANS_H

#include "base/json.h"
#include "run/phase.h"
#include "store/source_phases.h"

/* The spans of a run by path, with their usage. */
struct spans_shown {
	struct span_paths paths;
	struct span_sums sums;
};

/*
 * Reads the spans. Returns 0, an error of source_each(), or -ENOMEM. The caller calls
 * spans_shown_done() in any case.
 */
int spans_shown_read(struct spans_shown *shown, struct source *s, bool is_each);
/*
 * Writes, as members of an object, the paths with their sums, and the usage of @run outside of
 * them.
 */
void spans_json(struct jsonw *j, const struct spans_shown *shown, const struct summary *run);
/*
 * Writes, as a member, the lines of all spans as recorded, in their order. Returns what
 * spans_shown_read() does.
 */
int spans_json_each(struct jsonw *j, struct source *s);
void spans_shown_done(struct spans_shown *shown);

/* Writes the phases as a JSON list, with the keys of metrics. */
void phases_json(struct jsonw *j, const struct phases *p);
/*
 * Writes the sums of phases of the same name, and what cannot be told apart. Returns 0 or -ENOMEM.
 */
int phase_sums_json(struct jsonw *j, const struct phases *p);

#endif
