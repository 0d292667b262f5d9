// SPDX-License-Identifier: BSD-2-Clause
#include "store/table_column.h"

#include "base/memory.h"
#include "run/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

char *column_name(char out[COLUMN_BYTES], enum metric_id id)
{
	static const struct {
		const char *published, *stored;
	} suffixes[NR_UNITS] = {
		[UNIT_NS] = { "_seconds", "_ns" },
		[UNIT_MILLI] = { "", "_milli" },
		[UNIT_MICROJOULE] = { "_joules", "_uj" },
		[UNIT_MILLIWATT] = { "_watts", "_mw" },
	};
	const struct metric *m = metric_get(id);
	size_t n = strlen(m->key);

	if (suffixes[m->unit].published)
		n -= strlen(suffixes[m->unit].published);
	snprintf(out, COLUMN_BYTES, "%.*s%s", (int)n, m->key,
		 suffixes[m->unit].stored ? suffixes[m->unit].stored : "");
	return out;
}

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

void table_put_names(sqlite3_str *sql, const struct stored_table *t)
{
	const char *between = "";

	for (size_t i = 0; i < t->nr; i++) {
		if (t->columns[i].is_unread)
			continue;
		sqlite3_str_appendf(sql, "%s%s", between, t->columns[i].name);
		between = ",";
	}
}

static bool table_has_column(const struct stored_table *t, const char *name)
{
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->columns[i].name, name))
			return true;
	return false;
}

void table_put_create(sqlite3_str *sql, const struct stored_table *t,
		      const struct metric_set *metrics)
{
	char name[COLUMN_BYTES];

	sqlite3_str_appendf(sql, "CREATE TABLE %s(run INTEGER NOT NULL, ", t->name);
	for (size_t i = 0; i < t->nr; i++)
		sqlite3_str_appendf(sql, "%s %s%s, ", t->columns[i].name,
				    column_is_text(&t->columns[i]) ? "TEXT" : "INTEGER",
				    t->columns[i].is_key ? " NOT NULL" : "");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(metrics, (enum metric_id)i) &&
		    !table_has_column(t, column_name(name, (enum metric_id)i)))
			sqlite3_str_appendf(sql, "%s INTEGER, ", name);
	sqlite3_str_appendall(sql, "PRIMARY KEY(run");
	for (size_t i = 0; i < t->nr; i++)
		if (t->columns[i].is_key)
			sqlite3_str_appendf(sql, ", %s", t->columns[i].name);
	sqlite3_str_appendall(sql, ")) WITHOUT ROWID;");
}

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
	r->err = database_damaged(r->d, "the column %s of the table %s has %s instead of %s",
				  sqlite3_column_name(r->s, at), r->table,
				  value_kind_name(sqlite3_column_type(r->s, at)), wanted);
}

/*
 * Reads a number from @least to @most. Returns false if there is none; that sets r->err unless the
 * column is NULL.
 */
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
					  "the column %s of the table %s has the invalid value "
					  "%lld",
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

static uint32_t row_u32(struct row *r, int at)
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

static int row_int_or_none(struct row *r, int at)
{
	return row_is_null(r, at) ? -1 : row_int(r, at);
}

static int64_t row_count_or_none(struct row *r, int at)
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

void row_check_order(struct row *r, int64_t number, int64_t *last)
{
	if ((number < *last || (number == *last && number != INT64_MIN)) && !r->err)
		r->err = database_damaged(r->d, "the rows of the table %s are out of order",
					  r->table);
	*last = number;
}

bool row_is_null(const struct row *r, int at)
{
	return sqlite3_column_type(r->s, at) == SQLITE_NULL;
}

static char *column_copy_text(struct row *r, const char *text)
{
	char *copy = text ? memory_strdup(text) : NULL;

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

int parameter_find(sqlite3_stmt *s, const char *name)
{
	return sqlite3_bind_parameter_index(s, name);
}

void amount_bind(sqlite3_stmt *s, int at, uint64_t v)
{
	if (v <= INT64_MAX)
		sqlite3_bind_int64(s, at, (int64_t)v);
}

void time_bind(sqlite3_stmt *s, int at, uint64_t ns)
{
	if (ns)
		amount_bind(s, at, ns);
}

/* Binds a string of @o, which must live until the statement is reset. */
static void text_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		sqlite3_bind_text(s, at, json_string_value(v), (int)json_string_length(v),
				  SQLITE_STATIC);
}

/* Binds an integer from @least to @most, or a boolean. */
static void number_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key, json_int_t least,
			json_int_t most)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	if (json_is_integer(v) && n >= least && n <= most)
		sqlite3_bind_int64(s, at, n);
	else if (json_is_boolean(v))
		sqlite3_bind_int(s, at, json_is_true(v));
}

static void int_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	number_bind(s, at, o, key, INT32_MIN, INT32_MAX);
}

static void uint32_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	number_bind(s, at, o, key, 0, UINT32_MAX);
}

static void column_bind(sqlite3_stmt *s, int at, const struct table_column *c, const json_t *o)
{
	switch (c->type) {
	case COLUMN_TEXT:
	case COLUMN_COPY:
		text_bind(s, at, o, c->key);
		break;
	case COLUMN_TIME:
		time_bind(s, at, member_read_epoch(o, c->key));
		break;
	case COLUMN_UINT32:
		uint32_bind(s, at, o, c->key);
		break;
	case COLUMN_INT:
	case COLUMN_INT_OR_NONE:
	case COLUMN_TRUTH:
		int_bind(s, at, o, c->key);
		break;
	default:
		number_bind(s, at, o, c->key, 0, INT64_MAX);
	}
}

int columns_bind(sqlite3_stmt *s, int at, const struct stored_table *t, enum column_written written,
		 const json_t *o)
{
	for (size_t i = 0; i < t->nr; i++) {
		const struct table_column *c = &t->columns[i];

		if (c->written != written)
			continue;
		if (c->key)
			column_bind(s, at, c, o);
		at++;
	}
	return at;
}

void metrics_bind(sqlite3_stmt *s, int at, const struct metric_set *columns, const uint64_t *value,
		  const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		if (metric_has(have, (enum metric_id)i))
			amount_bind(s, at, value[i]);
		at++;
	}
}
