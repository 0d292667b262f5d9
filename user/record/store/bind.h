/* SPDX-License-Identifier: BSD-2-Clause */
/* What a line says, as the parameter of a statement; what it does not say is NULL. */
#ifndef RECORD_STORE_BIND_H
#define RECORD_STORE_BIND_H

#include "wire/reader_parts.h"

#include <sqlite3.h>

static inline void bind_time(sqlite3_stmt *s, int at, uint64_t ns)
{
	if (ns)
		sqlite3_bind_int64(s, at, (int64_t)ns);
}

/* A whole number, a string, or a truth; it must live until the statement is reset. */
static inline void bind_member(sqlite3_stmt *s, int at, const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_string(v))
		sqlite3_bind_text(s, at, json_string_value(v), (int)json_string_length(v),
				  SQLITE_STATIC);
	else if (json_is_integer(v))
		sqlite3_bind_int64(s, at, json_integer_value(v));
	else if (json_is_boolean(v))
		sqlite3_bind_int(s, at, json_is_true(v));
}

#endif
