/* SPDX-License-Identifier: BSD-2-Clause */
/* bpfmon show --by phase. */
#ifndef CMD_SHOW_PHASES_H
#define CMD_SHOW_PHASES_H

#include "base/json.h"
#include "model/phase.h"
#include "source/source.h"

/* Folds the run, which took @wall_ns, into its phases; to be freed by phases_done(). Errors of
 * source_each(). */
int phases_read(struct phases *p, struct source *s, uint64_t wall_ns);
/* The phases as a list in JSON, with the keys of metrics. */
void phases_json(struct jsonw *j, const struct phases *p);

#endif
