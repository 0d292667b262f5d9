/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of runs: a table for people, JSON Lines and CSV for programs. */
#ifndef TEXT_RUNS_TEXT_H
#define TEXT_RUNS_TEXT_H

#include "text/run_column.h"

#include <stdio.h>

/* @sources: the prefix of run numbers of each store, "" or "HOST:". @columns: nr of 0: the usual
 * ones, as far as they fit in @width, those of tags and notes where a run has any. */
void runs_table(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
		const struct run_columns *columns, size_t width);
/* 0, or -ENOMEM. */
int runs_json(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources);
/* A header and a row for each run, in the units and under the keys of the JSON; nr of 0: all
 * columns. What is not known is empty. 0, or -ENOMEM. */
int runs_csv(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
	     const struct run_columns *columns);

#endif
