// SPDX-License-Identifier: BSD-2-Clause
#include "top/screen.h"

#include "base/memory.h"
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINTED_BYTES 1024

void screen_clear(struct screen *s)
{
	for (int i = 0; i < s->width * s->height; i++)
		s->cells[i] = (struct cell){ .character = ' ' };
}

static int size_bound(int n, int most)
{
	return n < 1 ? 1 : n > most ? most : n;
}

int screen_resize(struct screen *s, int width, int height)
{
	free(s->cells);
	s->width = size_bound(width, MAX_SCREEN_WIDTH);
	s->height = size_bound(height, MAX_SCREEN_HEIGHT);
	s->cells = memory_calloc((size_t)s->width * (size_t)s->height, sizeof(*s->cells));
	if (!s->cells) {
		s->width = s->height = 0;
		return -ENOMEM;
	}
	screen_clear(s);
	return 0;
}

void screen_done(struct screen *s)
{
	free(s->cells);
	s->cells = NULL;
	s->width = s->height = 0;
}

static struct cell *screen_cell(struct screen *s, int x, int y)
{
	if (x < 0 || y < 0 || x >= s->width || y >= s->height)
		return NULL;
	return &s->cells[y * s->width + x];
}

/* Returns the next character, or "?" for an invalid or unsafe one, and stores its length in *@n. */
static uint32_t screen_take_character(const struct screen *s, const char *text, size_t *n)
{
	uint32_t c;

	*n = utf8_decode(text, strlen(text), &c);
	if (!*n) {
		*n = 1;
		return '?';
	}
	if (utf8_is_control(c) || (!s->is_utf8 && c > 0x7e))
		return '?';
	return c;
}

/* Overwriting one half of a wide character clears the other half. */
static void screen_put(struct screen *s, int x, int y, uint32_t c, enum style style)
{
	struct cell *at = screen_cell(s, x, y), *beside;

	if (!at)
		return;
	beside = screen_cell(s, x - 1, y);
	if (!at->character && beside && c)
		beside->character = ' ';
	beside = screen_cell(s, x + 1, y);
	if (at->character && beside && !beside->character)
		beside->character = ' ';
	*at = (struct cell){ .character = c, .style = (uint8_t)style };
}

int screen_text(struct screen *s, int x, int y, int columns, enum style style, const char *text)
{
	int used = 0;
	size_t n;

	if (x + columns > s->width)
		columns = s->width - x;
	for (; *text; text += n) {
		uint32_t c = screen_take_character(s, text, &n);
		int wide = (int)character_width(c);
		struct cell *last;

		if (used + wide > columns)
			break;
		if (!wide) {
			last = used ? screen_cell(s, x + used - 1, y) : NULL;
			if (last && !last->character)
				last = screen_cell(s, x + used - 2, y);
			if (last)
				last->above = c;
			continue;
		}
		screen_put(s, x + used, y, c, style);
		if (wide == 2)
			screen_put(s, x + used + 1, y, 0, style);
		used += wide;
	}
	return used;
}

int screen_measure(const struct screen *s, const char *text)
{
	int used = 0;
	size_t n;

	for (; *text; text += n)
		used += (int)character_width(screen_take_character(s, text, &n));
	return used;
}

const char *screen_skip(const struct screen *s, const char *text, int columns)
{
	size_t n;

	while (*text && columns > 0) {
		columns -= (int)character_width(screen_take_character(s, text, &n));
		text += n;
	}
	return text;
}

void screen_text_right(struct screen *s, int x, int y, int columns, enum style style,
		       const char *text)
{
	int used = screen_measure(s, text);

	screen_text(s, used < columns ? x + columns - used : x, y, columns, style, text);
}

int screen_printf(struct screen *s, int x, int y, int columns, enum style style, const char *format,
		  ...)
{
	char text[PRINTED_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return screen_text(s, x, y, columns, style, text);
}

void screen_paint(struct screen *s, int x, int y, int columns, enum style style)
{
	for (int i = 0; i < columns; i++) {
		struct cell *c = screen_cell(s, x + i, y);

		if (c)
			c->style = (uint8_t)style;
	}
}

void screen_bar(struct screen *s, int x, int y, int eighths, enum style style)
{
	static const char ascii[] = " .:-=+*%#";

	if (eighths < 0 || eighths > 8)
		return;
	screen_put(s, x, y,
		   !eighths     ? ' '
		   : s->is_utf8 ? 0x2580 + (uint32_t)eighths
				: (uint32_t)ascii[eighths],
		   style);
}

static size_t character_encode(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

char *screen_row_text(const struct screen *s, int y)
{
	char *text = memory_malloc((size_t)s->width * 2 * UTF8_BYTES + 1);
	size_t used = 0;

	if (!text)
		return NULL;
	for (int x = 0; x < s->width; x++) {
		const struct cell *c = &s->cells[y * s->width + x];

		if (c->character)
			used += character_encode(text + used, c->character);
		if (c->above)
			used += character_encode(text + used, c->above);
	}
	while (used && text[used - 1] == ' ')
		used--;
	text[used] = '\0';
	return text;
}
