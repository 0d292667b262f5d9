// SPDX-License-Identifier: BSD-2-Clause
#include "store/table_column.h"

#include <string.h>

void column_range(const struct table_column *c, int64_t *least, int64_t *most)
{
	*least = 0;
	*most = INT64_MAX;
	switch (c->type) {
	case COLUMN_NUMBER:
		*least = INT64_MIN;
		break;
	case COLUMN_INT:
	case COLUMN_INT_OR_NONE:
	case COLUMN_TRUTH:
		*least = INT32_MIN;
		*most = INT32_MAX;
		break;
	case COLUMN_UINT32:
		*most = UINT32_MAX;
		break;
	default:
		break;
	}
}

bool column_is_text(const struct table_column *c)
{
	return c->type == COLUMN_TEXT || c->type == COLUMN_COPY;
}

void table_put_names(sqlite3_str *sql, const struct stored_table *t, int64_t version)
{
	const char *between = "";

	for (size_t i = 0; i < t->nr; i++) {
		if (t->columns[i].is_unread)
			continue;
		sqlite3_str_appendf(sql, "%s%s", between,
				    t->columns[i].since > version ? "NULL" : t->columns[i].name);
		between = ",";
	}
}

void table_put_create(sqlite3_str *sql, const struct stored_table *t)
{
	sqlite3_str_appendf(sql, "CREATE TABLE %s(run INTEGER NOT NULL, ", t->name);
	for (size_t i = 0; i < t->nr; i++)
		if (!t->columns[i].since)
			sqlite3_str_appendf(sql, "%s %s%s, ", t->columns[i].name,
					    column_is_text(&t->columns[i]) ? "TEXT" : "INTEGER",
					    t->columns[i].is_key ? " NOT NULL" : "");
	sqlite3_str_appendall(sql, "PRIMARY KEY(run");
	for (size_t i = 0; i < t->nr; i++)
		if (t->columns[i].is_key)
			sqlite3_str_appendf(sql, ", %s", t->columns[i].name);
	sqlite3_str_appendall(sql, ")) WITHOUT ROWID;");
}

static char *column_copy_text(struct row *r, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy && !r->err)
		r->err = database_error(r->d, SQLITE_NOMEM);
	return copy;
}

static const char *column_read_text(struct row *r, int at, const struct table_column *c)
{
	return c->is_needed || c->is_key ? row_needed_text(r, at) : row_text(r, at);
}

static uint64_t column_read_amount(struct row *r, int at, const struct table_column *c)
{
	return c->is_needed || c->is_key ? row_needed_count(r, at) : row_count(r, at);
}

static void column_read(struct row *r, int at, const struct table_column *c, void *member)
{
	switch (c->type) {
	case COLUMN_NUMBER:
		*(int64_t *)member = row_number(r, at);
		break;
	case COLUMN_AMOUNT:
	case COLUMN_TIME:
		*(uint64_t *)member = column_read_amount(r, at, c);
		break;
	case COLUMN_AMOUNT_OR_NONE:
		*(int64_t *)member = row_count_or_none(r, at);
		break;
	case COLUMN_INT:
		*(int32_t *)member = row_int(r, at);
		break;
	case COLUMN_INT_OR_NONE:
		*(int64_t *)member = row_int_or_none(r, at);
		break;
	case COLUMN_TRUTH:
		*(bool *)member = row_int(r, at);
		break;
	case COLUMN_UINT32:
		*(uint32_t *)member = row_u32(r, at);
		break;
	case COLUMN_TEXT:
		*(const char **)member = column_read_text(r, at, c);
		break;
	case COLUMN_COPY:
		*(char **)member = column_copy_text(r, column_read_text(r, at, c));
		break;
	}
}

int row_read(struct row *r, const struct stored_table *t, void *to)
{
	int at = 0;

	for (size_t i = 0; i < t->nr; i++) {
		const struct table_column *c = &t->columns[i];

		if (c->is_unread)
			continue;
		column_read(r, at, c, (char *)to + c->offset);
		if (c->has)
			*(bool *)((char *)to + c->has) = !row_is_null(r, at);
		at++;
	}
	return at;
}
