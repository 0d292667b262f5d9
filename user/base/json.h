/* SPDX-License-Identifier: BSD-2-Clause */
/* The one JSON writer: it owns commas and escaping, and builds a line in memory. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *text; /* owned */
	size_t used, room;
	bool needs_comma;
	bool lossy;  /* a string had bytes that are not UTF-8 */
	bool failed; /* out of memory: what is there is not to be used */
};

void jw_done(struct json *j);
/* Forgets what was written, keeps the memory. */
void jw_reset(struct json *j);

/* A @key of NULL: an element of an array, or the outermost value. */
void jw_object(struct json *j, const char *key);
void jw_object_end(struct json *j);
void jw_array(struct json *j, const char *key);
void jw_array_end(struct json *j);
void jw_string(struct json *j, const char *key, const char *s);
/* @n bytes, which may hold NUL. */
void jw_bytes(struct json *j, const char *key, const char *s, size_t n);
void jw_uint(struct json *j, const char *key, uint64_t v);
void jw_int(struct json *j, const char *key, int64_t v);
/* @v / 10^@decimals, without trailing zeros. No whole number is more than NUMBER_MAX: readers would
 * not take the line. */
void jw_decimal(struct json *j, const char *key, uint64_t v, unsigned decimals);
/* The shortest decimal that reads back as @v, with an exponent if it is huge or tiny; null unless
 * it is finite. */
void jw_double(struct json *j, const char *key, double v);
void jw_bool(struct json *j, const char *key, bool v);
void jw_null(struct json *j, const char *key);
/* Ends the line. */
void jw_newline(struct json *j);

#endif
