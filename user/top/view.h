/* SPDX-License-Identifier: BSD-2-Clause */
/* What top shows of a run, and how keys change it. Independent of the terminal, for tests. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include "top/proc.h"
#include "top/top_table.h"
#include "top/screen.h"

enum view_mode { VIEW_TABLE, VIEW_TASK, VIEW_HELP, VIEW_COLUMNS };

/* Keys that are no characters. */
enum view_key {
	KEY_OF_NONE = 0x110000,
	KEY_OF_UP,
	KEY_OF_DOWN,
	KEY_OF_LEFT,
	KEY_OF_RIGHT,
	KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN,
	KEY_OF_HOME,
	KEY_OF_END,
	KEY_OF_ENTER,
	KEY_OF_ESCAPE,
	KEY_OF_BACKSPACE,
	KEY_OF_RESIZE
};

enum view_result { VIEW_GOES_ON, VIEW_QUITS, VIEW_GOES_BACK };

struct view {
	struct model *model; /* not owned */
	struct scene scene;
	struct table rows;
	struct row_choice choice;
	uint32_t chosen, shown; /* bits of columns; those that fit */
	enum view_mode mode;
	bool is_following; /* shows the latest moment, otherwise that of @at_ns */
	int64_t at_ns;
	uint64_t version; /* of the model when @scene was built */
	bool is_built;
	struct row_key selected;
	int32_t pid_to_select; /* process to select once it appears; 0 for none */
	size_t at, top;        /* selected row, and first row on the screen */
	size_t page;           /* rows on the screen */
	size_t cursor, scroll; /* in other modes */
	bool is_typing;        /* a filter is being typed */
	bool is_here;          /* the processes are alive on this machine */
	bool can_go_back;      /* to the list of runs */
	char source[256];      /* title of a run without a name */
	char state[128];       /* of the source; may be empty */
	bool is_alarm;         /* @state is a failure */
	struct waiting waiting;
	struct proc_lines task_lines;
	struct row_key task_key; /* row of @task_lines */
	uint64_t task_version;
};

void view_init(struct view *v, struct model *m);
void view_done(struct view *v);
/* Goes to the last moment with a live process, for a run that has ended. */
void view_show_last_live(struct view *v);
enum view_result view_key(struct view *v, int key);
/* Draws the whole screen. Returns 0 or -ENOMEM. */
int view_draw(struct view *v, struct screen *s);

/* Draw parts of the screen from row @y on, in draw_frame.c and draw_table.c. */
int draw_head(struct view *v, struct screen *s);
void draw_table(struct view *v, struct screen *s, int y, int height);
void draw_foot(struct view *v, struct screen *s);
void draw_task(struct view *v, struct screen *s, int y, int height);
void draw_help(struct view *v, struct screen *s, int y, int height);
void draw_columns(struct view *v, struct screen *s, int y, int height);
/*
 * Draws a curve of @nr values up to @most, right-aligned. @cursor is the index of a highlighted
 * value, or -1.
 */
void draw_curve(struct screen *s, int x, int y, int columns, const double *values, int nr,
		double most, int cursor, enum style style);

#endif
