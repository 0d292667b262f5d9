/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A screen of cells: what is drawn, before it goes to a terminal or a test. Texts of any origin are
 * made harmless and measured here, and nowhere else.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a cell means; the terminal decides what that looks like. */
enum style {
	STYLE_PLAIN,
	STYLE_DIM,
	STYLE_BOLD,
	STYLE_TITLE,    /* the line above the columns */
	STYLE_SORTED,   /* in it, the column that is sorted by */
	STYLE_SELECTED, /* the row that keys are for */
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_ALARM,
	STYLE_CPU,
	STYLE_MEMORY,
	STYLE_IO,
	STYLE_SPAN,
	STYLE_KEY, /* a key in the last line */
	NR_STYLES
};

struct cell {
	uint32_t character; /* 0: the second half of a wide one */
	uint32_t above;     /* a character that is drawn over it; 0: none */
	uint8_t style;
};

#define MAX_SCREEN_WIDTH 1000
#define MAX_SCREEN_HEIGHT 500

struct screen {
	int width, height;
	bool is_utf8;       /* else only ASCII is drawn */
	struct cell *cells; /* owned; row by row */
};

/* Makes it that large, within bounds, and blank. -ENOMEM: it has no cells. */
int screen_resize(struct screen *s, int width, int height);
void screen_clear(struct screen *s);
void screen_done(struct screen *s);
/*
 * Draws @text at column @x of row @y, up to @columns columns and the end of the row. Returns how
 * many columns it took. What is outside of the screen is left out.
 */
int screen_text(struct screen *s, int x, int y, int columns, enum style style, const char *text);
/* The same, against the right end of the columns. */
void screen_text_right(struct screen *s, int x, int y, int columns, enum style style,
		       const char *text);
int screen_printf(struct screen *s, int x, int y, int columns, enum style style, const char *format,
		  ...) __attribute__((format(printf, 6, 7)));
/* Gives all cells of a part of a row a style. */
void screen_paint(struct screen *s, int x, int y, int columns, enum style style);
/* A bar of @eighths (0 to 8) of a cell's height. */
void screen_bar(struct screen *s, int x, int y, int eighths, enum style style);
/* The columns that @text would take. */
int screen_measure(const struct screen *s, const char *text);
/* The row as UTF-8, without the blanks at its end, to be freed; NULL without memory. */
char *screen_row_text(const struct screen *s, int y);

#endif
