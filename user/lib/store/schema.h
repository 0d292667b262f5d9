/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schema of the store: creates its tables and views, checks those of files of unknown origin,
 * lists tables. Tables hold integers in the unit at the end of a column's name (cpu_ns, rss_bytes,
 * cores_milli); views have the published keys and units (cpu_seconds, cores).
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "run/metric.h"
#include "store/database.h"
#include "store/table_column.h"

#include <sqlite3.h>
#include <stdbool.h>

#define SCHEMA_APPLICATION 0x6270666d /* PRAGMA application_id: "bpfm" */
#define STORE_SCHEMA 2                /* PRAGMA user_version; other versions are refused */

/* A table with data of runs, other than `run`. Its column `run` is the number of the run. */
struct run_table {
	const char *name;
	const char *key; /* column that orders the rows of a run; NULL if the rows are few */
	const struct stored_table *columns;      /* NULL: its CREATE statement is in schema.c */
	void (*metrics)(struct metric_set *set); /* gets the metrics that have columns */
	const char *view; /* name of its view with published units; may be NULL */
};

/* Sets the metrics that a record of a process has. Process samples have others. */
void columns_of_process(struct metric_set *set);
/* Sets the metrics that the line of a span has: all counters. */
void columns_of_span(struct metric_set *set);
#define NR_RUN_TABLES 10
/* Returns NULL after the last table. */
const struct run_table *run_table_at(size_t i);
/* Returns NULL if there is no such table. */
const struct run_table *run_table_find(const char *name);

/*
 * Creates all tables and views in an empty file, within the caller's transaction. Returns an SQLite
 * status.
 */
int schema_make(sqlite3 *db, bool with_metrics);
/*
 * Adds missing metric columns to a file that an older bpfmon has created. Returns an SQLite status.
 */
int schema_add_columns(sqlite3 *db);
/* Reads the metrics that @table of the file has columns of. Returns an SQLite status. */
int columns_read(sqlite3 *db, const char *table, struct metric_set *have);
/*
 * Checks that the file has the tables of the schema and nothing that SQLite would execute: only
 * tables with plain columns, indexes on columns, and views, which are never read. Returns -EUCLEAN
 * otherwise; other errors as database_open().
 */
int schema_check(struct database *d);
/*
 * Opens a database in memory with all tables, without metric columns. The caller closes *@db, also
 * after an error. Returns an SQLite status.
 */
int schema_make_model(sqlite3 **db);

/*
 * A portion of a table's rows of one run, at first { .after = INT64_MIN }. Large deletes and copies
 * are divided into portions, so that memory is bounded and a recorder waits for one at most.
 */
struct portion {
	int64_t after, upto; /* keys: above @after, up to @upto */
	bool is_last;        /* it includes all remaining rows; @upto is ignored */
};

/* Sets p->upto for the portion after p->after. Errors as database_open(). */
int portion_next(struct database *d, const char *schema, const struct run_table *t, int64_t run,
		 struct portion *p);

#endif
