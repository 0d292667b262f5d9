/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of runs: its columns, as a table for people, as JSON Lines and CSV for programs. */
#ifndef TEXT_RUNS_TEXT_H
#define TEXT_RUNS_TEXT_H

#include "store/query.h"

#include <stdio.h>

#define RUN_CELL_BYTES 300 /* of any formatted cell */

enum run_column {
	RUN_ID,  /* as a table shows it: with the host, where it is another */
	RUN_REF, /* the same; in JSON and CSV RUN_ID is the number alone */
	RUN_START,
	RUN_STATE,
	RUN_EXIT,
	RUN_WALL,
	RUN_CPU,
	RUN_NEEDED, /* the memory that it needed, with its bound; what it is known from; its bound
		     */
	RUN_WITNESS,
	RUN_BOUND,
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
	enum run_column list[NR_RUN_COLUMNS]; /* in the order in which they are shown */
	size_t nr;                            /* 0: the usual ones */
};

/* "running", "finished", "unfinished". */
const char *run_state_name(enum run_state state);
/* The key of JSON and CSV; NULL: there is no such column. */
const char *run_column_key(size_t i);
/* What is shorter to type than the key, or the key. */
const char *run_column_word(enum run_column col);
/* Parses "id,name,wall": keys, or the short names of titles. -EINVAL: *@bad is the first that is
 * none, or is there twice. */
int run_columns_parse(struct run_columns *c, const char *text, const char **bad, size_t *length);
/* @out: what names the run among those of all hosts, its number behind the prefix of its store. */
const char *run_ref_text(char out[RUN_CELL_BYTES], const struct stored_run *r,
			 const char *const *sources);
/* The cell for people, which may be in @out; "-": it is not known, or there is none. */
const char *run_cell_text(char out[RUN_CELL_BYTES], enum run_column col, const struct stored_run *r,
			  const char *const *sources);

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
