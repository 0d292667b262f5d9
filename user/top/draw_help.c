// SPDX-License-Identifier: BSD-2-Clause
/* The keys, and the columns to choose from. */
#include "top/view.h"

static const struct {
	const char *key, *what;
} help[] = {
	{ "up down, k j", "the row before, the next one; also Page Up, Page Down, Home, End" },
	{ "Enter", "one process: its record so far, its curves, limits and open files" },
	{ "space", "fold what is below a row, or open it" },
	{ "/", "show only processes whose name, arguments or PID match; Esc: all" },
	{ "< >", "sort by the column to the left, to the right" },
	{ "r", "the other way round" },
	{ "c, s", "choose columns, and the one to sort by" },
	{ "t", "tree, or a flat list" },
	{ "e", "hide what has ended, or show it" },
	{ "left right", "the sample before, the next one" },
	{ "[ ]", "a tenth of the samples back, forth" },
	{ "p", "pause: what is shown stays; p again goes on with what is now" },
	{ "Esc", "back" },
	{ "?, h", "this help" },
	{ "q", "quit" },
	{ "", "" },
	{ "+", "A column with a + is of a process and all that it started," },
	{ "", "directly or not, those that have ended included." },
};

void draw_help(struct view *v, struct screen *s, int y, int height)
{
	const size_t nr = sizeof(help) / sizeof(*help);
	size_t most = nr > (size_t)height ? nr - (size_t)height : 0;

	if (v->scroll > most)
		v->scroll = most;
	for (size_t i = v->scroll; i < nr && i - v->scroll < (size_t)height; i++) {
		int at = y + (int)(i - v->scroll);

		screen_text(s, 0, at, 13, STYLE_KEY, help[i].key);
		screen_text(s, 14, at, s->width - 14, STYLE_PLAIN, help[i].what);
	}
}

void draw_columns(struct view *v, struct screen *s, int y, int height)
{
	size_t first = v->cursor >= (size_t)height ? v->cursor - (size_t)height + 1 : 0;

	for (size_t i = first; i < NR_COLUMNS && i - first < (size_t)height; i++) {
		int at = y + (int)(i - first);
		bool is_sorted = i == v->choice.sort;

		screen_text(s, 0, at, 4, STYLE_KEY, v->chosen >> i & 1 ? "[x]" : "[ ]");
		screen_text(s, 4, at, 10, is_sorted ? STYLE_SORTED : STYLE_BOLD, columns[i].title);
		screen_text(s, 14, at, s->width - 14, STYLE_PLAIN, columns[i].help);
		if (i == v->cursor)
			screen_paint(s, 0, at, s->width, STYLE_SELECTED);
	}
}
