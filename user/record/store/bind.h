/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binds values of a line to parameters of a statement. A value that is absent, or of another type
 * than the column, is NULL: readers of the store would take a wrong type for damage.
 */
#ifndef RECORD_STORE_BIND_H
#define RECORD_STORE_BIND_H

#include "wire/reader_parts.h"

#include <sqlite3.h>

/* NULL above INT64_MAX. */
static inline void bind_amount(sqlite3_stmt *s, int at, uint64_t v)
{
	if (v <= INT64_MAX)
		sqlite3_bind_int64(s, at, (int64_t)v);
}

static inline void bind_time(sqlite3_stmt *s, int at, uint64_t ns)
{
	if (ns)
		bind_amount(s, at, ns);
}

/* A string; it must live until the statement is reset. */
static inline void bind_text(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		sqlite3_bind_text(s, at, json_string_value(v), (int)json_string_length(v),
				  SQLITE_STATIC);
}

/* A whole number from @least to @most, or a boolean. */
static inline void bind_number(sqlite3_stmt *s, int at, const json_t *o, const char *key,
			       json_int_t least, json_int_t most)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	if (json_is_integer(v) && n >= least && n <= most)
		sqlite3_bind_int64(s, at, n);
	else if (json_is_boolean(v))
		sqlite3_bind_int(s, at, json_is_true(v));
}

/* A PID, a status, a boolean. */
static inline void bind_int(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	bind_number(s, at, o, key, INT32_MIN, INT32_MAX);
}

static inline void bind_u32(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	bind_number(s, at, o, key, 0, UINT32_MAX);
}

#endif
