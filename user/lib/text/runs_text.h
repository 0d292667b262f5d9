/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats a list of runs: as a table for people, and as JSON Lines and CSV for programs. */
#ifndef TEXT_RUNS_TEXT_H
#define TEXT_RUNS_TEXT_H

#include "text/run_column.h"

#include <stdio.h>

/*
 * Writes the table. @sources holds the prefix of run ids of each store, "" or "HOST:". If @columns
 * is empty, shows those default columns that fit into @width, tags and notes only if a run has any.
 */
void runs_table(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
		const struct run_columns *columns, size_t width);
/* Writes JSON Lines. Returns 0 or -ENOMEM. */
int runs_json(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources);
/*
 * Writes a header and a row per run, in the units and under the keys of the JSON, with all columns
 * if @columns is empty. Unknown values are empty. Returns 0 or -ENOMEM.
 */
int runs_csv(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources,
	     const struct run_columns *columns);

#endif
