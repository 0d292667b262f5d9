/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of the store: opened, brought to the present schema, refused when it is not ours. */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include "base/path_end.h"
#include "run/metric.h"

#include <sqlite3.h>

struct database {
	sqlite3 *db;
	struct path_end at; /* where it is, to write */
	/* those that the file has */
	struct metric_set sample_columns, process_columns, process_sample_columns, instance_columns;
	bool is_unchanging; /* read as a file that does not change: see database_open_unchanging()
			     */
	uint64_t steps_left, bytes_left; /* of the work that defence_bound() grants */
	char why[512]; /* what went wrong, for the user, after an error; without the path */
};

/* Runs statements that return nothing. Errors as of database_error(). */
int database_run(struct database *d, const char *sql);
/* The same, formatted as by sqlite3_mprintf(). */
int database_runf(struct database *d, const char *format, ...);
/* After an update of the row of a run: -ESTALE: it has been removed. */
int database_check_update(struct database *d);
/* The first column of the first row, 0 without one; @is_none, unless NULL: there is none. */
int database_number(struct database *d, int64_t *value, bool *is_none, const char *format, ...);
/* Does it within a transaction, which an error takes back. */
int database_transact(struct database *d, int (*act)(struct database *d, void *context),
		      void *context);
/* Makes a negative errno of what SQLite reported last, and @d->why; 0 for a success. */
int database_error(struct database *d, int status);

/*
 * Any file may claim to be a store, so every connection is opened as SQLite advises for databases
 * of unknown origin: nothing in the file runs, and the work that it can cause is bounded.
 */

#define VALUE_MIB 64 /* a longer value is neither written nor read */

/*
 * Turns off views, triggers, extensions and functions that a schema could name, and sets limits on
 * texts and statements. An SQLite status.
 */
int defence_set_up(sqlite3 *db);
/*
 * Bounds the work of the statements that follow by the bytes of the files @path and, unless NULL,
 * @other; then they end with SQLITE_INTERRUPT. It counts steps of SQLite's machine, not time: a
 * slow disk or a busy machine changes nothing. @d must stay where it is; the bound lasts until
 * defence_lift_bound() or the end of the connection.
 */
void defence_bound(struct database *d, const char *path, const char *other);
void defence_lift_bound(struct database *d);
/* Counts @bytes that were read against the bound: -EUCLEAN when it is used up. */
int defence_count(struct database *d, uint64_t bytes);
/* Says in @d->why what is wrong with the file, after "it is damaged: ". Always -EUCLEAN. */
int database_damaged(struct database *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
