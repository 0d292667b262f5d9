/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schema of the store: its tables and views are created, checked in files of unknown origin,
 * and walked. Tables hold whole numbers in the unit at the end of a column's name (cpu_ns,
 * rss_bytes, cores_milli); their views have the published keys (cpu_seconds, cores).
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "run/metric.h"
#include "store/database.h"
#include "store/table_column.h"

#include <sqlite3.h>
#include <stdbool.h>

#define SCHEMA_APPLICATION 0x6270666d /* PRAGMA application_id: "bpfm" */
#define STORE_SCHEMA 1                /* PRAGMA user_version; others are refused */

/* A table with the data of runs, beside `run`. */
struct run_table {
	const char *name; /* its rows are of the run in their column `run` */
	const char *key;  /* the column that orders the rows of a run; NULL: they are few */
	const struct stored_table *columns;      /* NULL: schema.c has its text */
	void (*metrics)(struct metric_set *set); /* returns the metrics that it has columns of */
	const char *view;                        /* with published units; NULL: none */
};

/* Returns the metrics that a record of a process has; its samples have others. */
void columns_of_process(struct metric_set *set);
/* Returns those that the line of a span has, as a summary: all counters. */
void columns_of_span(struct metric_set *set);
/* NULL: there are no more. */
const struct run_table *run_table_at(size_t i);
/* NULL: there is no such table. */
const struct run_table *run_table_find(const char *name);

/* Creates all tables and views in an empty file, within a transaction of the caller. An SQLite
 * status. */
int schema_make(sqlite3 *db, bool with_metrics);
/*
 * Adds columns for the metrics that a bpfmon with fewer of them has created no columns of. An
 * SQLite status.
 */
int schema_add_columns(sqlite3 *db);
/* Returns the metrics that the table of the file has columns of. An SQLite status. */
int columns_read(sqlite3 *db, const char *table, struct metric_set *have);
/*
 * Checks that the file has the tables of the schema and nothing that runs: tables with plain
 * columns, indexes on columns, and views, which are never read. -EUCLEAN: it has others; errors as
 * database_open().
 */
int schema_check(struct database *d);
/*
 * Opens an empty database in memory with all tables, and no column of metrics; the caller closes
 * *@db, also after an error. An SQLite status.
 */
int schema_make_model(sqlite3 **db);

/*
 * A part of a table's rows of one run. Large deletes and copies go by portions, so that a recorder
 * waits for no more than one, and memory is bounded. Starts as { .after = INT64_MIN }.
 */
struct portion {
	int64_t after, upto; /* keys */
	bool is_last;        /* it has all that is left, whatever @upto is */
};

/* Sets p->upto for the portion after p->after. Errors as database_open(). */
int portion_next(struct database *d, const char *schema, const struct run_table *t, int64_t run,
		 struct portion *p);

#endif
