/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of the store without their columns of metrics: one row of a table for each column, from
 * which come the statements that create, fill and read it. SQLite stores any kind of value in any
 * column, and a file may be of unknown origin: each value is checked where it is read.
 */
#ifndef STORE_TABLE_COLUMN_H
#define STORE_TABLE_COLUMN_H

#include "run/metric.h"
#include "store/database.h"

#include <jansson.h>
#include <sqlite3.h>

/* What a column holds, and the type of the member that it is read into. NULL is read as 0, false or
 * NULL, or as -1 where the name of the type ends in OR_NONE. */
enum column_type {
	COLUMN_NUMBER,         /* int64_t: any, and never NULL */
	COLUMN_AMOUNT,         /* uint64_t: 0 to INT64_MAX */
	COLUMN_AMOUNT_OR_NONE, /* int64_t: the same, or -1 */
	COLUMN_TIME,           /* uint64_t: as an amount; in the line it is in seconds */
	COLUMN_INT,            /* int32_t: a PID, a status */
	COLUMN_INT_OR_NONE,    /* int64_t: the same, or -1 */
	COLUMN_TRUTH,          /* bool */
	COLUMN_UINT32,
	COLUMN_TEXT, /* const char *, valid until the next step */
	COLUMN_COPY, /* char *, owned by the struct */
};

/* When the column is written; those of tables with rows that are written once are WRITTEN_FIRST. */
enum column_written { WRITTEN_FIRST, WRITTEN_AT_END, WRITTEN_OTHERWISE };

struct table_column {
	const char *name;
	enum column_type type;
	const char *key; /* in the line that the value is from; NULL: the writer binds it by name */
	size_t offset;   /* of the member in the struct that a row is read into */
	size_t has;      /* of a bool there that is false if the column is NULL; 0: there is none */
	enum column_written written;
	bool is_key;    /* part of the primary key, after the run */
	bool is_needed; /* never NULL, though no key */
	bool is_unread;
};

struct stored_table {
	const char *name;
	const struct table_column *columns; /* all tables but `run` begin with the run besides */
	size_t nr;
};

#define COLUMN_BYTES 64 /* the longest name of a column of a metric */

/* Writes the name of the column of a metric, with the stored unit at its end, and returns @out. */
char *column_name(char out[COLUMN_BYTES], enum metric_id id);

/* Returns the range of numbers that a column may hold. */
void column_range(const struct table_column *c, int64_t *least, int64_t *most);
bool column_is_text(const struct table_column *c);
/* Appends the names of the columns that are read, separated by commas, in order. */
void table_put_names(sqlite3_str *sql, const struct stored_table *t);
/* Appends the statement that creates the table with the columns of @metrics. */
void table_put_create(sqlite3_str *sql, const struct stored_table *t,
		      const struct metric_set *metrics);

/* The current row of a statement. */
struct row {
	struct database *d;
	sqlite3_stmt *s;
	const char *table; /* as an error names it */
	int err; /* of the first value that is wrong: -EUCLEAN, -ENOMEM; @d->why has the words */
};

/*
 * Read one value. NULL is 0, or -1 for the functions of the name or_none. A value of another kind
 * or out of range sets r->err, and 0 is returned.
 */
uint64_t row_count(struct row *r, int at);
/* The same; NULL is an error. */
uint64_t row_needed_count(struct row *r, int at);
int row_int(struct row *r, int at);
/* Returns a text, valid until the next step; NULL if the column is NULL. */
const char *row_text(struct row *r, int at);
/* The same; NULL is an error. */
const char *row_needed_text(struct row *r, int at);
/* Returns any number; NULL is an error. */
int64_t row_number(struct row *r, int at);
/* Checks that the number of a row is larger than *@last, and stores it there. */
void row_follows(struct row *r, int64_t number, int64_t *last);
bool row_is_null(const struct row *r, int at);
/*
 * Reads the columns of table_put_names() into @to; errors are in r->err. Returns the index of what
 * was selected after them.
 */
int row_read(struct row *r, const struct stored_table *t, void *to);

#define FIRST_COLUMN 2 /* the parameter after that of the run */

/*
 * Bind parameters of a statement to values of a line. What the line lacks, or has as another kind
 * of value than the column holds, stays NULL: reading it back would report damage.
 */
/* Returns the number of the parameter @name, as ":pid". */
int parameter_find(sqlite3_stmt *s, const char *name);
/* Binds an amount unless it is above INT64_MAX. */
void amount_bind(sqlite3_stmt *s, int at, uint64_t v);
/* The same; 0 is no time, and stays NULL. */
void time_bind(sqlite3_stmt *s, int at, uint64_t ns);
/*
 * Binds the columns of @t that are written at the time @written and have a key in the line @o to
 * parameters from @at on, in order. Those without a key are skipped: the caller binds them by name.
 * Returns the parameter after them.
 */
int columns_bind(sqlite3_stmt *s, int at, const struct stored_table *t, enum column_written written,
		 const json_t *o);
/* Binds the metrics of @columns that are in @have to parameters from @at on. */
void metrics_bind(sqlite3_stmt *s, int at, const struct metric_set *columns, const uint64_t *value,
		  const struct metric_set *have);

#endif
