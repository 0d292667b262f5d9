/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Describes the columns of the store's tables, except those of metrics; the statements that create,
 * fill and read tables are made from them. SQLite stores any type in any column, and a file may be
 * of unknown origin, so each value is checked when it is read.
 */
#ifndef STORE_TABLE_COLUMN_H
#define STORE_TABLE_COLUMN_H

#include "run/metric.h"
#include "store/database.h"

#include <jansson.h>
#include <sqlite3.h>

/*
 * The values of a column, and the type of the member that it is read into. NULL is read as 0, false
 * or NULL, or as -1 for the types with OR_NONE.
 */
enum column_type {
	COLUMN_NUMBER,         /* int64_t: any number, never NULL */
	COLUMN_AMOUNT,         /* uint64_t: 0 to INT64_MAX */
	COLUMN_AMOUNT_OR_NONE, /* int64_t: an amount, or -1 */
	COLUMN_TIME,           /* uint64_t: an amount in ns; seconds in the line */
	COLUMN_INT,            /* int32_t: a PID or status */
	COLUMN_INT_OR_NONE,    /* int64_t: an int32_t, or -1 */
	COLUMN_TRUTH,          /* bool */
	COLUMN_UINT32,
	COLUMN_TEXT, /* const char *, valid until the next step */
	COLUMN_COPY, /* char *, owned by the struct */
};

/* When a column is written. Tables whose rows are written once have only WRITTEN_FIRST. */
enum column_written { WRITTEN_FIRST, WRITTEN_AT_END, WRITTEN_OTHERWISE };

struct table_column {
	const char *name;
	enum column_type type;
	const char *key; /* key of the value in the line; NULL: the writer binds it by name */
	size_t offset;   /* of the member in the struct of the row */
	size_t has;      /* offset of a bool there, false if the column is NULL; 0: none */
	enum column_written written;
	bool is_key;    /* part of the primary key, after the run */
	bool is_needed; /* NOT NULL, though not a key */
	bool is_unread;
};

struct stored_table {
	const char *name;
	const struct table_column *columns; /* without the leading `run` of all tables but `run` */
	size_t nr;
};

#define COLUMN_BYTES 64 /* longest name of a metric column */

/* Writes the column name of a metric, which ends in the stored unit. Returns @out. */
char *column_name(char out[COLUMN_BYTES], enum metric_id id);

/* Returns the range of numbers that a column may hold. */
void column_range(const struct table_column *c, int64_t *least, int64_t *most);
bool column_is_text(const struct table_column *c);
/* Appends the names of the columns that are read, in order, separated by commas. */
void table_put_names(sqlite3_str *sql, const struct stored_table *t);
/* Appends the CREATE statement of the table, with columns for @metrics. */
void table_put_create(sqlite3_str *sql, const struct stored_table *t,
		      const struct metric_set *metrics);

/* The current row of a statement. */
struct row {
	struct database *d;
	sqlite3_stmt *s;
	const char *table; /* its name in error messages */
	int err;           /* first error: -EUCLEAN or -ENOMEM; @d->why has the message */
};

/*
 * Reads an amount; NULL is 0. Here and below a value of the wrong type or out of range sets r->err,
 * and 0 or NULL is returned.
 */
uint64_t row_count(struct row *r, int at);
/* Reads an amount; NULL is an error. */
uint64_t row_needed_count(struct row *r, int at);
int row_int(struct row *r, int at);
/* Returns a text, valid until the next step; NULL if the column is NULL. */
const char *row_text(struct row *r, int at);
/* Returns a text; NULL in the column is an error. */
const char *row_needed_text(struct row *r, int at);
/* Returns any number; NULL is an error. */
int64_t row_number(struct row *r, int at);
/* Checks that @number is larger than *@last, and stores it there. */
void row_check_order(struct row *r, int64_t number, int64_t *last);
bool row_is_null(const struct row *r, int at);
/*
 * Reads the columns of table_put_names() into @to; errors are in r->err. Returns the index of the
 * next column of the statement.
 */
int row_read(struct row *r, const struct stored_table *t, void *to);

#define FIRST_COLUMN 2 /* parameter 1 is the run */

/*
 * Functions that bind parameters of a statement to values of a line. A value that is missing, or
 * that the column cannot hold, stays NULL: reading it back would report damage.
 */
/* Returns the number of the parameter @name, such as ":pid". */
int parameter_find(sqlite3_stmt *s, const char *name);
/* Binds an amount unless it is above INT64_MAX. */
void amount_bind(sqlite3_stmt *s, int at, uint64_t v);
/* Binds a time; 0 is unknown and stays NULL. */
void time_bind(sqlite3_stmt *s, int at, uint64_t ns);
/*
 * Binds the columns of @t with that @written to their values in the line @o, from parameter @at on.
 * Skips columns without a key, which the caller binds by name. Returns the next parameter.
 */
int columns_bind(sqlite3_stmt *s, int at, const struct stored_table *t, enum column_written written,
		 const json_t *o);
/* Binds the metrics of @columns that are in @have, from parameter @at on. */
void metrics_bind(sqlite3_stmt *s, int at, const struct metric_set *columns, const uint64_t *value,
		  const struct metric_set *have);

#endif
