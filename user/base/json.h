/* SPDX-License-Identifier: BSD-2-Clause */
/* The only JSON writer: it puts commas, escapes strings, and builds a line in memory. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *text; /* owned; ends with a NUL beyond @used bytes; NULL: nothing was written */
	size_t used, room;
	bool needs_comma;
	bool lossy;  /* a string had bytes that are not UTF-8; each became U+FFFD */
	bool failed; /* out of memory: the text is incomplete, do not use it */
};

void jw_done(struct json *j);
/* Empties the line, keeps the memory. */
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
/* @v / 10^@decimals, without trailing zeros. A whole number above NUMBER_MAX is written as that:
 * readers would refuse the line. */
void jw_decimal(struct json *j, const char *key, uint64_t v, unsigned decimals);
/* The shortest decimal that reads back as @v, with an exponent if it is very large or small; null
 * unless @v is finite. */
void jw_double(struct json *j, const char *key, double v);
void jw_bool(struct json *j, const char *key, bool v);
void jw_null(struct json *j, const char *key);
/* Ends the line; the next value is an outermost one. */
void jw_newline(struct json *j);

#endif
