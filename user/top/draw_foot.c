// SPDX-License-Identifier: BSD-2-Clause
/* The last line: the keys of what is shown. */
#include "top/view.h"

static int foot_key(struct screen *s, int x, const char *key, const char *what)
{
	int y = s->height - 1;

	if (x + screen_measure(s, key) + screen_measure(s, what) + 1 > s->width)
		return s->width;
	x += screen_text(s, x, y, s->width - x, STYLE_KEY, key) + 1;
	return x + screen_text(s, x, y, s->width - x, STYLE_PLAIN, what) + 2;
}

void draw_foot(struct view *v, struct screen *s)
{
	int x = 0;

	if (v->is_typing || v->choice.filter[0]) {
		x += screen_text(s, 0, s->height - 1, s->width, STYLE_KEY, "/");
		x += screen_printf(s, x, s->height - 1, s->width - x, STYLE_BOLD, "%s%s",
				   v->choice.filter, v->is_typing ? "_" : "") +
		     2;
		foot_key(s, x, "Esc", "all");
		return;
	}
	x = foot_key(s, x, "q", "quit");
	x = foot_key(s, x, "?", "help");
	if (v->mode == VIEW_COLUMNS) {
		x = foot_key(s, x, "space", "show or hide");
		x = foot_key(s, x, "Enter", "sort by it");
		foot_key(s, x, "Esc", "done");
		return;
	}
	x = foot_key(s, x, s->is_utf8 ? "\u2190 \u2192" : "left right", "time");
	x = foot_key(s, x, "p", v->is_following ? "pause" : "go on");
	if (v->mode != VIEW_TABLE) {
		foot_key(s, x, "Esc", "back");
		return;
	}
	x = foot_key(s, x, "Enter", "open");
	x = foot_key(s, x, "space", "fold");
	x = foot_key(s, x, "/", "filter");
	x = foot_key(s, x, "< >", "sort");
	x = foot_key(s, x, "c", "columns");
	x = foot_key(s, x, "t", v->choice.is_flat ? "tree" : "flat");
	if (v->can_go_back)
		foot_key(s, x, "Esc", "runs");
}
