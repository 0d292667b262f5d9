/* SPDX-License-Identifier: BSD-2-Clause */
/* The only JSON writer: it puts commas, escapes strings, and builds a line in memory. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jsonw {
	char *text; /* owned; ends with a NUL beyond @used bytes; NULL: nothing was written */
	size_t used, room;
	bool needs_comma;
	bool lossy;  /* a string had bytes that are not UTF-8; each became U+FFFD */
	bool failed; /* out of memory: the text is incomplete, do not use it */
};

void jsonw_done(struct jsonw *j);
/* Writes it to @f, and ends with jsonw_done(). -ENOMEM: it is incomplete, nothing was written. */
int jsonw_print(struct jsonw *j, FILE *f);
/* Empties the line, keeps the memory. */
void jsonw_reset(struct jsonw *j);

/* A @key of NULL: an element of an array, or the outermost value. */
void jsonw_object(struct jsonw *j, const char *key);
void jsonw_object_end(struct jsonw *j);
void jsonw_array(struct jsonw *j, const char *key);
void jsonw_array_end(struct jsonw *j);
void jsonw_string(struct jsonw *j, const char *key, const char *s);
/* An object of the @nr texts "key=value". */
void jsonw_pairs(struct jsonw *j, const char *key, const char *const *pairs, size_t nr);
/* @n bytes, which may hold NUL. */
void jsonw_bytes(struct jsonw *j, const char *key, const char *s, size_t n);
void jsonw_uint(struct jsonw *j, const char *key, uint64_t v);
void jsonw_int(struct jsonw *j, const char *key, int64_t v);
/* @v / 10^@decimals, without trailing zeros. A whole number above NUMBER_MAX is written as that:
 * readers would refuse the line. */
void jsonw_decimal(struct jsonw *j, const char *key, uint64_t v, unsigned decimals);
/* The shortest decimal that reads back as @v, with an exponent if it is very large or small; null
 * unless @v is finite. */
void jsonw_double(struct jsonw *j, const char *key, double v);
void jsonw_bool(struct jsonw *j, const char *key, bool v);
void jsonw_null(struct jsonw *j, const char *key);
/* "schema":"bpfmon-@name/1": the first member of each object that the subcommand @name prints. */
void jsonw_schema(struct jsonw *j, const char *name);
/* @n bytes that are JSON already; commas are the caller's. */
void jsonw_raw(struct jsonw *j, const char *text, size_t n);
/* Ends the line; the next value is an outermost one. */
void jsonw_newline(struct jsonw *j);

#endif
