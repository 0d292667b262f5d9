// SPDX-License-Identifier: BSD-2-Clause
#include "store/value.h"

#include "store/defence.h"

#include <errno.h>

static const char *value_kind_name(int type)
{
	switch (type) {
	case SQLITE_INTEGER:
		return "a number";
	case SQLITE_FLOAT:
		return "a fraction";
	case SQLITE_TEXT:
		return "a text";
	case SQLITE_BLOB:
		return "bytes";
	default:
		return "nothing";
	}
}

static void value_refuse_kind(struct row *r, int at, const char *wanted)
{
	if (r->err)
		return;
	r->err = database_damaged(r->d, "the column %s of the table %s has %s where %s belongs",
				  sqlite3_column_name(r->s, at), r->table,
				  value_kind_name(sqlite3_column_type(r->s, at)), wanted);
}

/* A number from @least to @most; false: there is none, which is an error unless it is NULL. */
static bool value_read_number_at(struct row *r, int at, int64_t least, int64_t most, int64_t *v)
{
	int type = sqlite3_column_type(r->s, at);

	*v = 0;
	if (type == SQLITE_NULL)
		return false;
	if (type != SQLITE_INTEGER) {
		value_refuse_kind(r, at, "a number");
		return false;
	}
	*v = sqlite3_column_int64(r->s, at);
	if (*v >= least && *v <= most)
		return true;
	if (!r->err)
		r->err = database_damaged(r->d,
					  "the column %s of the table %s has %lld, which it cannot "
					  "be",
					  sqlite3_column_name(r->s, at), r->table, (long long)*v);
	*v = 0;
	return false;
}

uint64_t row_count(struct row *r, int at)
{
	int64_t v;

	value_read_number_at(r, at, 0, INT64_MAX, &v);
	return (uint64_t)v;
}

uint64_t row_needed_count(struct row *r, int at)
{
	if (row_is_null(r, at))
		value_refuse_kind(r, at, "a number");
	return row_count(r, at);
}

uint32_t row_u32(struct row *r, int at)
{
	int64_t v;

	value_read_number_at(r, at, 0, UINT32_MAX, &v);
	return (uint32_t)v;
}

int row_int(struct row *r, int at)
{
	int64_t v;

	value_read_number_at(r, at, INT32_MIN, INT32_MAX, &v);
	return (int)v;
}

int row_int_or_none(struct row *r, int at)
{
	return row_is_null(r, at) ? -1 : row_int(r, at);
}

int64_t row_count_or_none(struct row *r, int at)
{
	int64_t v;

	return value_read_number_at(r, at, 0, INT64_MAX, &v) ? v : -1;
}

const char *row_text(struct row *r, int at)
{
	int type = sqlite3_column_type(r->s, at);
	const char *text;

	if (type == SQLITE_NULL)
		return NULL;
	if (type != SQLITE_TEXT) {
		value_refuse_kind(r, at, "a text");
		return NULL;
	}
	text = (const char *)sqlite3_column_text(r->s, at);
	if (!text && !r->err)
		r->err = database_error(r->d, SQLITE_NOMEM);
	if (!r->err)
		r->err = defence_count(r->d, (uint64_t)sqlite3_column_bytes(r->s, at));
	return r->err ? NULL : text;
}

const char *row_needed_text(struct row *r, int at)
{
	const char *text = row_text(r, at);

	if (!text)
		value_refuse_kind(r, at, "a text");
	return text;
}

int64_t row_number(struct row *r, int at)
{
	int64_t v;

	if (!value_read_number_at(r, at, INT64_MIN, INT64_MAX, &v))
		value_refuse_kind(r, at, "a number");
	return v;
}

void row_follows(struct row *r, int64_t number, int64_t *last)
{
	if ((number < *last || (number == *last && number != INT64_MIN)) && !r->err)
		r->err = database_damaged(r->d, "the rows of the table %s lead back to others",
					  r->table);
	*last = number;
}

bool row_is_null(const struct row *r, int at)
{
	return sqlite3_column_type(r->s, at) == SQLITE_NULL;
}
