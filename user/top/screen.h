/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A screen of cells, drawn before it goes to a terminal or a test. Only this module sanitizes and
 * measures texts of any origin.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The meaning of a cell. The terminal chooses its appearance. */
enum style {
	STYLE_PLAIN,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_TITLE,    /* titles of columns */
	STYLE_SORTED,   /* title of the sort column */
	STYLE_SELECTED, /* selected row */
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_ALARM,
	STYLE_CPU,
	STYLE_HOT, /* a high load, which is no failure */
	STYLE_MEMORY,
	STYLE_IO,
	STYLE_SPAN,
	STYLE_KEY, /* a key in the last line */
	NR_STYLES
};

struct cell {
	uint32_t character; /* 0 for the second half of a wide character */
	uint32_t above;     /* combining character; 0 for none */
	uint8_t style;
};

#define MAX_SCREEN_WIDTH 1000
#define MAX_SCREEN_HEIGHT 500

struct screen {
	int width, height;
	bool is_utf8;       /* otherwise only ASCII is drawn */
	struct cell *cells; /* owned; row by row */
};

/* Resizes the screen within bounds and clears it. Returns 0, or -ENOMEM with no cells. */
int screen_resize(struct screen *s, int width, int height);
void screen_clear(struct screen *s);
void screen_done(struct screen *s);
/*
 * Draws @text at column @x of row @y, in up to @columns columns and within the screen. Returns the
 * columns used.
 */
int screen_text(struct screen *s, int x, int y, int columns, enum style style, const char *text);
/* Like screen_text(), aligned to the right of the columns. */
void screen_text_right(struct screen *s, int x, int y, int columns, enum style style,
		       const char *text);
int screen_printf(struct screen *s, int x, int y, int columns, enum style style, const char *format,
		  ...) __attribute__((format(printf, 6, 7)));
void screen_paint(struct screen *s, int x, int y, int columns, enum style style);
/* Draws a bar of @eighths (0 to 8) of the height of a cell. */
void screen_bar(struct screen *s, int x, int y, int eighths, enum style style);
/* Returns the columns that @text would use. */
int screen_measure(const struct screen *s, const char *text);
/* Returns the part of @text after its first @columns columns. */
const char *screen_skip(const struct screen *s, const char *text, int columns);
/* Returns the row as UTF-8 without trailing blanks. The caller frees it. NULL without memory. */
char *screen_row_text(const struct screen *s, int y);

#endif
