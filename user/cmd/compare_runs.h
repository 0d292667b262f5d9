/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs to compare: those that are named, else those of the store that pass the filters; with
 * only a tag to group by, all of them. */
#ifndef CMD_COMPARE_RUNS_H
#define CMD_COMPARE_RUNS_H

#include "cmd/compare.h"
#include "compare/step.h"

/* With --by span their steps, too. A negative errno after one line to the user. */
int compare_runs_read(struct sides *all, struct steps *steps, const struct compare_options *o);

#endif
