/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of a list of runs: their names, and what is in their cells. */
#ifndef TEXT_RUN_COLUMN_H
#define TEXT_RUN_COLUMN_H

#include "run/key.h"
#include "store/query.h"

#include <stdbool.h>
#include <stddef.h>

#define RUN_CELL_BYTES 520 /* size of any formatted cell */

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

#define NR_LIST_COLUMNS (NR_RUN_COLUMNS + NR_KEYS)
#define MOST_KEY_COLUMNS 16

struct run_columns {
	/* In display order: an enum run_column, or NR_RUN_COLUMNS + an index of run/key.h. */
	size_t list[NR_RUN_COLUMNS + MOST_KEY_COLUMNS];
	size_t nr;    /* 0 for the default columns */
	bool of_node; /* the default columns are those for jobs of a node */
	/* For the keys of run/key.h, in their order in @list: [key][run]; NAN: unknown. */
	const double *values; /* not owned; set by the caller */
	size_t nr_runs;
};

/* Returns the key of column @i in JSON and CSV, or NULL beyond the last column. */
const char *run_column_key(size_t i);
/* Returns the short name of a column, or its key if it has none. */
const char *run_column_word(enum run_column col);
/*
 * Parses a list of columns, keys of run/key.h and short names of both, such as "id,name,wall,read".
 * Returns 0, or in *@bad and *@length the first wrong name and -ENOENT if it is unknown, -EEXIST if
 * it is repeated, or -E2BIG if it is a key beyond MOST_KEY_COLUMNS.
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

/* Returns whether @col, of struct run_columns, is an index of run/key.h. */
bool run_column_is_of_key(size_t col);
/* Returns the title of a column in tables. */
const char *run_column_title(size_t col);
/* Returns the key of a column in CSV. */
const char *run_column_name(size_t col);
/* Returns the value of run @i in @col, which is a key of run/key.h; NAN if it is unknown. */
double run_column_value(const struct run_columns *c, size_t col, size_t i);
/* Text columns are left-aligned, and cut if needed. */
bool run_column_is_text(size_t col);
/*
 * Sets *@text to the text of the column, or to NULL if the run has none. Returns false if the
 * column holds no text.
 */
bool run_column_text(enum run_column col, const struct stored_run *r, const char **text);
/* Returns true if the account is complete and the store has all lines of the run. */
bool stored_run_is_complete(const struct stored_run *r);

#endif
