/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that grows in memory. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *text; /* owned; NULL: nothing was put; not ended by NUL */
	size_t used, room;
	bool failed; /* out of memory: what is there is not to be used */
};

void buffer_done(struct buffer *t);
void buffer_put(struct buffer *t, const char *s, size_t n);
void buffer_puts(struct buffer *t, const char *s);
void buffer_printf(struct buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* @v / 10^@decimals, without trailing zeros. */
void buffer_decimal(struct buffer *t, uint64_t v, unsigned decimals);
/* The length of the character at @s, of which @n bytes are left; and whether it is to be disarmed.
 */
size_t buffer_character(const char *s, size_t n, bool *is_control);
/* What could steer a terminal or end the line becomes "?". */
void buffer_inert(struct buffer *t, const char *s, size_t n);

#endif
