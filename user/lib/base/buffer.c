// SPDX-License-Identifier: BSD-2-Clause
#include "base/buffer.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_done(struct buffer *t)
{
	free(t->text);
	*t = (struct buffer){ 0 };
}

void buffer_put(struct buffer *t, const char *s, size_t n)
{
	if (t->used + n > t->room) {
		size_t room = (t->used + n) * 2;
		char *text = memory_realloc(t->text, room);

		if (!text) {
			t->failed = true;
			return;
		}
		t->text = text;
		t->room = room;
	}
	if (n)
		memcpy(t->text + t->used, s, n);
	t->used += n;
}

void buffer_puts(struct buffer *t, const char *s)
{
	buffer_put(t, s, strlen(s));
}

void buffer_put_quoted(struct buffer *t, const char *s)
{
	buffer_puts(t, "\"");
	for (const char *end; (end = strchr(s, '"')); s = end + 1) {
		buffer_put(t, s, (size_t)(end - s));
		buffer_puts(t, "\"\"");
	}
	buffer_puts(t, s);
	buffer_puts(t, "\"");
}

void buffer_printf(struct buffer *t, const char *format, ...)
{
	char *s = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = memory_vasprintf(&s, format, args);
	va_end(args);
	if (n < 0) {
		t->failed = true;
		return;
	}
	buffer_put(t, s, (size_t)n);
	free(s);
}

void buffer_put_decimal(struct buffer *t, uint64_t v, unsigned decimals)
{
	char out[DECIMAL_TEXT];

	buffer_put(t, out, (size_t)decimal_format(out, v, decimals));
}

size_t buffer_character_bytes(const char *s, size_t n, bool *is_control)
{
	char c[5] = "";

	memcpy(c, s, n < 4 ? n : 4);
	return text_character_bytes(c, is_control);
}

void buffer_put_printable(struct buffer *t, const char *s, size_t n)
{
	bool is_control;

	for (size_t i = 0, length; i < n; i += length) {
		length = buffer_character_bytes(s + i, n - i, &is_control);
		buffer_put(t, is_control ? "?" : s + i, is_control ? 1 : length);
	}
}
