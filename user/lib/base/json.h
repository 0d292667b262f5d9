/* SPDX-License-Identifier: BSD-2-Clause */
/* The only JSON writer: puts commas, escapes strings, builds a line in memory. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct jsonw {
	char *text; /* owned, with a NUL after @used bytes; NULL if nothing was written */
	size_t used, room;
	bool needs_comma;
	bool lossy;  /* a string had bytes that are not UTF-8 and became U+FFFD */
	bool failed; /* out of memory: @text is incomplete and must not be used */
};

void jsonw_done(struct jsonw *j);
/*
 * Writes the text to @f and calls jsonw_done(). Returns 0, or -ENOMEM if the text is incomplete and
 * was not written.
 */
int jsonw_print(struct jsonw *j, FILE *f);
/* Empties the line but keeps its memory. */
void jsonw_reset(struct jsonw *j);

/* @key is NULL for elements of an array and for the outermost value. */
void jsonw_object(struct jsonw *j, const char *key);
void jsonw_object_end(struct jsonw *j);
void jsonw_array(struct jsonw *j, const char *key);
void jsonw_array_end(struct jsonw *j);
void jsonw_string(struct jsonw *j, const char *key, const char *s);
/* Writes an object from the @nr strings "key=value". */
void jsonw_pairs(struct jsonw *j, const char *key, const char *const *pairs, size_t nr);
/* Writes a string of @n bytes, which may contain NUL. */
void jsonw_bytes(struct jsonw *j, const char *key, const char *s, size_t n);
/* Writes @n bytes as hexadecimal digits, two for each; see hex_decode(). */
void jsonw_hex(struct jsonw *j, const char *key, const void *bytes, size_t n);
void jsonw_uint(struct jsonw *j, const char *key, uint64_t v);
void jsonw_int(struct jsonw *j, const char *key, int64_t v);
/*
 * Writes @v / 10^@decimals without trailing zeros. Whole numbers are limited to NUMBER_MAX, as
 * readers would refuse the line.
 */
void jsonw_decimal(struct jsonw *j, const char *key, uint64_t v, unsigned decimals);
/*
 * Writes the shortest decimal that reads back as @v, with an exponent if it is very large or small;
 * null if @v is not finite.
 */
void jsonw_double(struct jsonw *j, const char *key, double v);
void jsonw_bool(struct jsonw *j, const char *key, bool v);
void jsonw_null(struct jsonw *j, const char *key);
/*
 * Writes "schema":"bpfmon-@name/1", the first member of each object that the subcommand @name
 * prints.
 */
void jsonw_schema(struct jsonw *j, const char *name);
/* Appends @n bytes that are JSON already. Commas are up to the caller. */
void jsonw_raw(struct jsonw *j, const char *text, size_t n);
/* Decodes @text, of which each byte is two digits, to @out. Returns the number of bytes. */
size_t hex_decode(char *out, const char *text);
/* Ends the line. The next value is an outermost one. */
void jsonw_newline(struct jsonw *j);

#endif
