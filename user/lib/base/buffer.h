/* SPDX-License-Identifier: BSD-2-Clause */
/* A text that grows in memory. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *text; /* owned, without a NUL at its end; NULL if nothing was appended */
	size_t used, room;
	bool failed; /* out of memory: @text is incomplete and must not be used */
};

void buffer_done(struct buffer *t);
/* Appends @n bytes. If out of memory, appends nothing and sets @t->failed. */
void buffer_put(struct buffer *t, const char *s, size_t n);
void buffer_puts(struct buffer *t, const char *s);
/* Appends @s in double quotes and doubles the quotes within: a CSV cell (RFC 4180). */
void buffer_put_quoted(struct buffer *t, const char *s);
void buffer_printf(struct buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends @v / 10^@decimals, without trailing zeros. */
void buffer_put_decimal(struct buffer *t, uint64_t v, unsigned decimals);
/*
 * Returns the length of the character at @s, of which @n bytes are left, like
 * text_character_bytes().
 */
size_t buffer_character_bytes(const char *s, size_t n, bool *is_control);
/* Appends @n bytes; replaces control characters (see text_character_bytes()) by "?". */
void buffer_put_printable(struct buffer *t, const char *s, size_t n);

#endif
