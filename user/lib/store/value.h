/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of a row that a statement is at. SQLite keeps any kind of value in any column, so
 * each is looked at where it is read: the first that is not what its column holds ends the reading.
 */
#ifndef STORE_VALUE_H
#define STORE_VALUE_H

#include "store/database.h"

struct row {
	struct database *d;
	sqlite3_stmt *s;
	const char *table; /* as an error names it */
	int err; /* of the first value that is wrong: -EUCLEAN, -ENOMEM; @d->why has the words */
};

/* Whole numbers; amounts are not negative. NULL is 0, or -1 where that is none. After an error: 0.
 */
uint64_t row_count(struct row *r, int at);
/* The same of one that must be there. */
uint64_t row_needed_count(struct row *r, int at);
uint32_t row_u32(struct row *r, int at);
int row_int(struct row *r, int at);
int row_int_or_none(struct row *r, int at);
int64_t row_count_or_none(struct row *r, int at);
/* A text without its end, in use until the next step; NULL where there is none. */
const char *row_text(struct row *r, int at);
/* The same of one that must be there: NULL only after an error. */
const char *row_needed_text(struct row *r, int at);
/* Any number, which must be there. */
int64_t row_number(struct row *r, int at);
/* The number of a row is larger than *@last, and is *@last now; else it is an error. */
void row_follows(struct row *r, int64_t number, int64_t *last);
bool row_is_null(const struct row *r, int at);

#endif
