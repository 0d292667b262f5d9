/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of runs: a table for people, JSON Lines for programs. */
#ifndef VIEW_RUNS_TEXT_H
#define VIEW_RUNS_TEXT_H

#include "store/query.h"

#include <stdio.h>

/* @sources: the prefix of run numbers of each store, "" or "HOST:". */
void runs_table(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
		size_t width);
/* 0, or -ENOMEM. */
int runs_json(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources);

#endif
