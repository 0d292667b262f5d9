/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of the store: opened, brought to the present schema, refused when it is not ours. */
#ifndef STORE_DATABASE_H
#define STORE_DATABASE_H

#include "base/path_end.h"
#include "run/metric.h"

#include <sqlite3.h>

#define STORE_SCHEMA 9     /* PRAGMA user_version; a newer one is refused */
#define SPANS_SINCE 3      /* the first schema that has spans */
#define NOTES_SINCE 4      /* and that has notes of runs */
#define EDITS_SINCE 5      /* and the time of their last edit */
#define INSTANCES_SINCE 6  /* and values of instances */
#define SIGNATURES_SINCE 7 /* and signatures of runs */
#define CHILDREN_SINCE 8   /* and CPU time of children that have no record */
#define NEEDED_SINCE 9     /* and the memory that runs needed */

enum database_mode {
	DATABASE_READ,
	DATABASE_WRITE,
	DATABASE_CHANGE, /* the same, of a file that must be there */
};

struct database {
	sqlite3 *db;
	int64_t version;    /* of its schema: one that is read may be older than ours */
	struct path_end at; /* where it is, to write */
	/* those that the file has */
	struct metric_set sample_columns, process_columns, process_sample_columns, instance_columns;
	bool is_unchanging; /* read as a file that does not change: see database_open_unchanging()
			     */
	uint64_t steps_left, bytes_left; /* of the work that defence_bound() grants */
	char why[512]; /* what went wrong, for the user, after an error; without the path */
};

/*
 * Opens @path, of any origin, with the precautions of defence.h and shape.h; to read, the
 * work is bounded, too. To write, it is made with its folders where it is missing, and brought to
 * the present schema; a file of another user is refused (-EPERM). On an error @d->why has what is
 * wrong, and what to do. -EAGAIN: others write just now; -EUCLEAN: it is damaged, or no store.
 */
int database_open(struct database *d, const char *path, enum database_mode mode);
void database_close(struct database *d);
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
/* Makes @path, which was opened once to be read as @is_unchanging has it, known as `other`. */
int database_attach(struct database *d, const char *path, bool is_unchanging);
/* Makes a negative errno of what SQLite reported last, and @d->why; 0 for a success. */
int database_error(struct database *d, int status);
/* Whether write-ahead logging, which takes shared memory, is safe on such a file system. */
bool database_is_local(unsigned long file_system_magic);

#endif
