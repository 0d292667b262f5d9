/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An open store: its SQLite connection, transactions, errors, defences against hostile files, and
 * the check of all that is in it.
 */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include "base/path_end.h"
#include "run/metric.h"

#include <sqlite3.h>

struct database {
	sqlite3 *db;
	struct path_end at; /* where to open it for writing */
	/* the metric columns that each table of the file has */
	struct metric_set sample_columns, process_columns, process_sample_columns, instance_columns;
	bool is_unchanging;              /* opened as immutable: see database_open_unchanging() */
	uint64_t steps_left, bytes_left; /* rest of the budget of defence_bound() */
	char why[512];                   /* message for the user after an error, without the path */
};

/* Executes statements that return no rows. Errors as for database_error(). */
int database_run(struct database *d, const char *sql);
/* Formats statements by sqlite3_vmprintf() and executes them. */
int database_runf(struct database *d, const char *format, ...);
/* Returns -ESTALE if the last UPDATE matched no row: the run has been removed. */
int database_check_update(struct database *d);
/*
 * Reads the first column of the first row. *@is_none (may be NULL) is set if there is no row or the
 * column is NULL; *@value is 0 then.
 */
int database_number(struct database *d, int64_t *value, bool *is_none, const char *format, ...);
/* Calls @act within a transaction, which is rolled back on an error. */
int database_transact(struct database *d, int (*act)(struct database *d, void *context),
		      void *context);
/* Converts an SQLite status to a negative errno and sets @d->why; returns 0 for success. */
int database_error(struct database *d, int status);

/*
 * Any file may claim to be a store, so every connection is opened as SQLite advises for databases
 * of unknown origin: nothing in the file runs, and the work that it can cause is bounded.
 */

#define VALUE_MIB 64 /* longer values are neither written nor read */

/*
 * Turns off views, triggers, extensions and untrusted functions of the schema, and limits the sizes
 * of values and statements. Returns an SQLite status.
 */
int defence_set_up(sqlite3 *db);
/*
 * Limits the work of the following statements in proportion to the sizes of the files @path and
 * @other (may be NULL); beyond it they fail with SQLITE_INTERRUPT. Counts steps of SQLite's virtual
 * machine, because time depends on disk and load. @d must not move until defence_lift_bound() or
 * the end of the connection.
 */
void defence_bound(struct database *d, const char *path, const char *other);
void defence_lift_bound(struct database *d);
/* Subtracts @bytes read from the limit. Returns -EUCLEAN if it is used up. */
int defence_count(struct database *d, uint64_t bytes);
/* Sets @d->why to "it is damaged: " and the formatted reason. Returns -EUCLEAN. */
int database_damaged(struct database *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Checks all of an open store, and counts the rows without a run in *@rows_left. Returns -EUCLEAN
 * or -EFBIG if it is damaged, and @d->why names the place; other errors as database_open().
 */
int store_check(struct database *d, int64_t *rows_left);
/* Checks a store to merge, without its indexes, which a merge does not read. */
int store_check_source(struct database *d);

#endif
