/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs to compare: those that are named, else those of the store that pass the filters; with
 * only a tag to group by, all of them. */
#ifndef BPFMON_COMPARE_RUNS_H
#define BPFMON_COMPARE_RUNS_H

#include "bpfmon/cmd_compare.h"
#include "study/step.h"

/* With --by span their steps, too. A negative errno after one line to the user. */
int compare_runs_read(struct sides *all, struct steps *steps, const struct compare_options *o);

#endif
