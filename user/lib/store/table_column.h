/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a table that are not of metrics: one row for each, from which come the statements
 * that make, fill and read the table, and what a value of a file of unknown origin may be.
 */
#ifndef STORE_TABLE_COLUMN_H
#define STORE_TABLE_COLUMN_H

#include "store/value.h"

/* What a column holds, and the type of the member that it is read into. NULL is 0, false or NULL
 * there, or -1 where the type is named so. */
enum column_type {
	COLUMN_NUMBER,         /* int64_t: any, and never NULL */
	COLUMN_AMOUNT,         /* uint64_t: 0 to INT64_MAX */
	COLUMN_AMOUNT_OR_NONE, /* int64_t: the same, or -1 */
	COLUMN_TIME,           /* uint64_t: as an amount; in the line it is in seconds */
	COLUMN_INT,            /* int32_t: a PID, a status */
	COLUMN_INT_OR_NONE,    /* int64_t: the same, or -1 */
	COLUMN_TRUTH,          /* bool */
	COLUMN_UINT32,
	COLUMN_TEXT, /* const char *, in use until the next step */
	COLUMN_COPY, /* char *, owned by the struct */
};

/* When the row is given a value; of tables whose rows are written once, always the first. */
enum column_written { WRITTEN_FIRST, WRITTEN_AT_END, WRITTEN_OTHERWISE };

struct table_column {
	const char *name;
	enum column_type type;
	const char *key; /* of the line that the value is taken from; NULL: the writer has it */
	size_t offset;   /* of the member in the struct that a row is read into */
	size_t has;      /* of a bool there that is false where it is NULL; 0: there is none */
	enum column_written written;
	int since; /* the schema whose step adds it to a table that was there; 0: it came with it */
	bool is_key;    /* part of the primary key, after the run */
	bool is_needed; /* never NULL, though no key */
	bool is_unread;
};

struct stored_table {
	const char *name;
	const struct table_column
		*columns; /* without the run, which each table but `run` has first */
	size_t nr;
};

/* The least and the most that a column of numbers may hold. */
void column_range(const struct table_column *c, int64_t *least, int64_t *most);
bool column_is_text(const struct table_column *c);
/* Appends the names of those columns that are read, with commas between them, in order; of one that
 * a file of the schema @version lacks, NULL. */
void table_put_names(sqlite3_str *sql, const struct stored_table *t, int64_t version);
/* Appends the statement that makes the table, without columns that a later step adds. */
void table_put_create(sqlite3_str *sql, const struct stored_table *t);
/*
 * Reads the columns of table_put_names() into @to, and puts what is wrong into r->err:
 * -EUCLEAN, -ENOMEM. Returns how many there are: what was selected after them begins there.
 */
int row_read(struct row *r, const struct stored_table *t, void *to);

#endif
