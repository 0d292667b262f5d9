// SPDX-License-Identifier: BSD-2-Clause
#define _XOPEN_SOURCE_EXTENDED 1
#include "top/session.h"

#include "base/memory.h"
#include "base/text.h"
#include "top/view.h"
#include "text/terminal.h"

#include <errno.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define ESCAPE_MS 25
#define ESCAPE 27
/* a press and its release that arrive together are a click */
#define CLICKS (BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON1_TRIPLE_CLICKED)

static SCREEN *terminal;
static FILE *keys;
static attr_t looks[NR_STYLES]; /* attributes, without the colour pair */
static short pairs[NR_STYLES];
static struct {
	int x, y;
} mouse;
static struct screen shown; /* last state of the terminal */

/* Colours that are readable on light and dark backgrounds; -1 is the default of the terminal. */
static const struct {
	attr_t plain; /* without colour */
	attr_t with;  /* besides the colour */
	short few_front, few_back, many_front, many_back;
} styles[NR_STYLES] = {
	[STYLE_PLAIN] = { 0, 0, -1, -1, -1, -1 },
	[STYLE_DIM] = { A_DIM, 0, -1, -1, 245, -1 },
	[STYLE_BOLD] = { A_BOLD, A_BOLD, -1, -1, -1, -1 },
	[STYLE_TITLE] = { A_UNDERLINE, 0, COLOR_BLACK, COLOR_WHITE, 231, 240 },
	[STYLE_SORTED] = { A_REVERSE, A_BOLD, COLOR_WHITE, COLOR_BLUE, 231, 25 },
	[STYLE_SELECTED] = { A_REVERSE, 0, COLOR_WHITE, COLOR_BLUE, 231, 25 },
	[STYLE_GOOD] = { 0, 0, COLOR_GREEN, -1, 71, -1 },
	[STYLE_WARN] = { A_BOLD, 0, COLOR_YELLOW, -1, 172, -1 },
	[STYLE_ALARM] = { A_BOLD, A_BOLD, COLOR_RED, -1, 160, -1 },
	[STYLE_CPU] = { 0, 0, COLOR_GREEN, -1, 71, -1 },
	[STYLE_HOT] = { A_BOLD, 0, COLOR_RED, -1, 167, -1 },
	[STYLE_MEMORY] = { 0, 0, COLOR_CYAN, -1, 68, -1 },
	[STYLE_IO] = { 0, 0, COLOR_MAGENTA, -1, 173, -1 },
	[STYLE_SPAN] = { A_BOLD, 0, COLOR_MAGENTA, -1, 133, -1 },
	[STYLE_KEY] = { A_BOLD, A_BOLD, -1, -1, -1, -1 },
};

static void curses_choose_colours(void)
{
	bool has_colour = terminal_has_colour(stdout) && has_colors() && start_color() == OK;
	short first, back;

	if (has_colour && use_default_colors() != OK)
		has_colour = false;
	for (int i = 0; i < NR_STYLES; i++) {
		first = COLORS >= 256 ? styles[i].many_front : styles[i].few_front;
		back = COLORS >= 256 ? styles[i].many_back : styles[i].few_back;
		looks[i] = has_colour ? styles[i].with : styles[i].plain;
		pairs[i] = 0;
		if (has_colour && i == STYLE_DIM && COLORS < 256)
			looks[i] = A_DIM;
		if (has_colour && (first >= 0 || back >= 0) &&
		    init_pair((short)(i + 1), first, back) == OK)
			pairs[i] = (short)(i + 1);
	}
}

/* Restores the terminal before the process exits for lack of memory. */
static void curses_leave(void)
{
	endwin();
}

int curses_open(int keys_fd, char *why, size_t size)
{
	const char *kind = getenv("TERM");
	int fd = dup(keys_fd);

	keys = fd < 0 ? NULL : memory_fdopen(fd, "re");
	if (!keys) {
		snprintf(why, size, "cannot read keys: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -EIO;
	}
	set_escdelay(ESCAPE_MS);
	terminal = newterm(NULL, stdout, keys);
	if (!terminal) {
		snprintf(why, size,
			 "the terminal '%s' (TERM) is unknown, or cannot move its cursor",
			 kind ? kind : "");
		fclose(keys);
		keys = NULL;
		return -ENOTTY;
	}
	set_term(terminal);
	memory_set_undo(curses_leave);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	/* all of them, because getch() would wait for a key after an event that is masked out */
	mousemask(ALL_MOUSE_EVENTS, NULL);
	mouseinterval(0); /* a click is a press: nothing waits for a second one */
	curses_choose_colours();
	return 0;
}

void curses_close(void)
{
	if (!terminal)
		return;
	memory_set_undo(NULL);
	endwin();
	delscreen(terminal);
	terminal = NULL;
	fclose(keys);
	screen_done(&shown);
}

void curses_size(int *width, int *height)
{
	getmaxyx(stdscr, *height, *width);
}

static int curses_key_of_mouse(void)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return KEY_OF_NONE;
	mouse.x = event.x;
	mouse.y = event.y;
	return event.bstate & CLICKS            ? KEY_OF_CLICK
	       : event.bstate & BUTTON4_PRESSED ? KEY_OF_WHEEL_UP
	       : event.bstate & BUTTON5_PRESSED ? KEY_OF_WHEEL_DOWN
						: KEY_OF_NONE;
}

void curses_mouse(int *x, int *y)
{
	*x = mouse.x;
	*y = mouse.y;
}

static int curses_key_translate(wint_t c)
{
	static const struct {
		int of_curses, key;
	} keys_of[] = {
		{ KEY_UP, KEY_OF_UP },
		{ KEY_DOWN, KEY_OF_DOWN },
		{ KEY_LEFT, KEY_OF_LEFT },
		{ KEY_RIGHT, KEY_OF_RIGHT },
		{ KEY_PPAGE, KEY_OF_PAGE_UP },
		{ KEY_NPAGE, KEY_OF_PAGE_DOWN },
		{ KEY_HOME, KEY_OF_HOME },
		{ KEY_END, KEY_OF_END },
		{ KEY_ENTER, KEY_OF_ENTER },
		{ KEY_BACKSPACE, KEY_OF_BACKSPACE },
		{ KEY_RESIZE, KEY_OF_RESIZE },
		{ KEY_SLEFT, KEY_OF_SHIFT_LEFT },
		{ KEY_SRIGHT, KEY_OF_SHIFT_RIGHT },
	};

	if (c == KEY_MOUSE)
		return curses_key_of_mouse();
	for (size_t i = 0; i < sizeof(keys_of) / sizeof(*keys_of); i++)
		if ((wint_t)keys_of[i].of_curses == c)
			return keys_of[i].key;
	return KEY_OF_NONE;
}

int curses_key(void)
{
	wint_t c;
	int kind = get_wch(&c);

	if (kind == ERR)
		return 0;
	if (kind == KEY_CODE_YES)
		return curses_key_translate(c);
	if (c == '\r' || c == '\n')
		return KEY_OF_ENTER;
	if (c == 0x7f || c == '\b')
		return KEY_OF_BACKSPACE;
	return c == ESCAPE ? KEY_OF_ESCAPE : c ? (int)c : KEY_OF_NONE;
}

/*
 * A character whose width differs between the C library and base/width would shift the rest of the
 * row.
 */
static bool character_is_as_wide(uint32_t c)
{
	return wcwidth((wchar_t)c) == (int)character_width(c);
}

static void curses_show_cell(int x, int y, const struct cell *cell)
{
	bool is_wide = character_width(cell->character) == 2;
	wchar_t text[3] = { (wchar_t)cell->character, 0, 0 };
	cchar_t c;

	if (!character_is_as_wide(cell->character)) {
		text[0] = '?';
		if (is_wide)
			mvaddch(y, x + 1, ' ');
	} else if (cell->above && character_is_as_wide(cell->above)) {
		text[1] = (wchar_t)cell->above;
	}
	setcchar(&c, text, looks[cell->style], pairs[cell->style], NULL);
	mvadd_wch(y, x, &c);
}

static struct cell *row_cells(const struct screen *s, int y)
{
	return &s->cells[(size_t)y * (size_t)s->width];
}

static void curses_show_row(const struct screen *s, int y)
{
	const struct cell *row = row_cells(s, y);

	for (int x = 0; x < s->width; x++)
		if (row[x].character)
			curses_show_cell(x, y, &row[x]);
}

void curses_show(const struct screen *s, bool all)
{
	size_t row = (size_t)s->width * sizeof(*s->cells);

	if (all || shown.width != s->width || shown.height != s->height) {
		all = true;
		clear();
		if (screen_resize(&shown, s->width, s->height))
			return;
	}
	for (int y = 0; y < s->height; y++) {
		struct cell *before = row_cells(&shown, y);
		const struct cell *now = row_cells(s, y);

		if (!all && !memcmp(before, now, row))
			continue;
		curses_show_row(s, y);
		memcpy(before, now, row);
	}
	refresh();
}
