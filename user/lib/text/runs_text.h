/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats a list of runs: as a table for people, and as JSON Lines and CSV for programs. */
#ifndef TEXT_RUNS_TEXT_H
#define TEXT_RUNS_TEXT_H

#include "store/query.h"

#include <stdio.h>

#define RUN_CELL_BYTES 300 /* size of any formatted cell */

enum run_column {
	RUN_ID,  /* in a table with the prefix of another host; in JSON and CSV the number alone */
	RUN_REF, /* always with the prefix of the host */
	RUN_START,
	RUN_STATE,
	RUN_EXIT,
	RUN_WALL,
	RUN_CPU,
	RUN_NEEDED,  /* memory needed, with the sign of its bound */
	RUN_WITNESS, /* source of the memory needed */
	RUN_BOUND,   /* "equal", "at_most" or "at_least" */
	RUN_PEAK,
	RUN_PROCESSES,
	RUN_NAME,
	RUN_JOB,
	RUN_TAGS,
	RUN_NOTE,
	RUN_USER,
	RUN_HOST,
	RUN_UUID,
	RUN_SIGNAL,
	RUN_COMPLETE,
	RUN_COMMAND,
	NR_RUN_COLUMNS
};

struct run_columns {
	enum run_column list[NR_RUN_COLUMNS]; /* in display order */
	size_t nr;                            /* 0 for the default columns */
};

/* Returns "running", "finished" or "unfinished". */
const char *run_state_name(enum run_state state);
/* Returns the key of column @i in JSON and CSV, or NULL beyond the last column. */
const char *run_column_key(size_t i);
/* Returns the short name of a column, or its key if it has none. */
const char *run_column_word(enum run_column col);
/*
 * Parses a list of keys or short names such as "id,name,wall". Returns 0, or in *@bad and *@length
 * the first wrong name and -ENOENT if it is unknown, or -EEXIST if it is repeated.
 */
int run_columns_parse(struct run_columns *c, const char *text, const char **bad, size_t *length);
/*
 * Formats the id of the run with the prefix of its store into @out, which is unique among all
 * hosts. Returns @out.
 */
const char *run_ref_text(char out[RUN_CELL_BYTES], const struct stored_run *r,
			 const char *const *sources);
/*
 * Returns the text of a cell for people, in @out or in @r; "-" if the value is unknown or absent,
 * and for tags, which may be longer.
 */
const char *run_cell_text(char out[RUN_CELL_BYTES], enum run_column col, const struct stored_run *r,
			  const char *const *sources);

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
