/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a line has, as the parameter of a statement; what it lacks, or has as another kind
 * of value than the column holds, is NULL: a reader of the store would call that damage.
 */
#ifndef STORE_BIND_H
#define STORE_BIND_H

#include "store/table_column.h"
#include "run/reader.h"

#include <sqlite3.h>

#define FIRST_COLUMN 2 /* the parameter after that of the run */

/* Which parameter has that name, as ":pid". */
static inline int parameter_find(sqlite3_stmt *s, const char *name)
{
	return sqlite3_bind_parameter_index(s, name);
}

/* An amount, which the column holds up to INT64_MAX. */
static inline void amount_bind(sqlite3_stmt *s, int at, uint64_t v)
{
	if (v <= INT64_MAX)
		sqlite3_bind_int64(s, at, (int64_t)v);
}

static inline void time_bind(sqlite3_stmt *s, int at, uint64_t ns)
{
	if (ns)
		amount_bind(s, at, ns);
}

/* A string; it must live until the statement is reset. */
static inline void text_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		sqlite3_bind_text(s, at, json_string_value(v), (int)json_string_length(v),
				  SQLITE_STATIC);
}

/* A whole number from @least to @most, or a truth. */
static inline void number_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key,
			       json_int_t least, json_int_t most)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	if (json_is_integer(v) && n >= least && n <= most)
		sqlite3_bind_int64(s, at, n);
	else if (json_is_boolean(v))
		sqlite3_bind_int(s, at, json_is_true(v));
}

/* A PID, a status, a truth. */
static inline void int_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	number_bind(s, at, o, key, INT32_MIN, INT32_MAX);
}

static inline void uint32_bind(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	number_bind(s, at, o, key, 0, UINT32_MAX);
}

/* What the line @o has for the column, as its parameter. */
static inline void column_bind(sqlite3_stmt *s, int at, const struct table_column *c,
			       const json_t *o)
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

/*
 * The parameters of the columns of @t that are @written then, from @at on in their order: those
 * that have a key in the line @o are bound, the others are bound by name. Returns the one after
 * them.
 */
static inline int columns_bind(sqlite3_stmt *s, int at, const struct stored_table *t,
			       enum column_written written, const json_t *o)
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

/* What there is of @columns, as the parameters from @at on. */
static inline void metrics_bind(sqlite3_stmt *s, int at, const struct metric_set *columns,
				const uint64_t *value, const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		if (metric_has(have, (enum metric_id)i))
			amount_bind(s, at, value[i]);
		at++;
	}
}

#endif
