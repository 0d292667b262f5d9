/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows in memory. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *text; /* owned; NULL: nothing was appended; no NUL at its end */
	size_t used, room;
	bool failed; /* out of memory: the text is incomplete, do not use it */
};

void buffer_done(struct buffer *t);
/* Appends @n bytes. Without memory nothing is appended, and @t->failed is set. */
void buffer_put(struct buffer *t, const char *s, size_t n);
void buffer_puts(struct buffer *t, const char *s);
/* Appends @s in double quotes, each within it twice: a cell of CSV (RFC 4180). */
void buffer_put_quoted(struct buffer *t, const char *s);
void buffer_printf(struct buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends @v / 10^@decimals, without trailing zeros. */
void buffer_put_decimal(struct buffer *t, uint64_t v, unsigned decimals);
/* The length of the character at @s, where @n bytes are left; @is_control as of
 * text_character_bytes().
 */
size_t buffer_character_bytes(const char *s, size_t n, bool *is_control);
/* Appends @n bytes; a character that could steer a terminal or end the line becomes "?". */
void buffer_put_inert(struct buffer *t, const char *s, size_t n);

#endif
