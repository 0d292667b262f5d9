/* SPDX-License-Identifier: BSD-2-Clause */
/* The runs that are compared: those that are named, or those of the store that the filters let
 * pass; all of it where only a tag to group by is given. */
#ifndef CMD_COMPARE_RUNS_H
#define CMD_COMPARE_RUNS_H

#include "cmd/compare.h"
#include "compare/side.h"

/* A negative errno after one line to the user. */
int compare_runs_read(struct sides *all, const struct compare_options *o);

#endif
