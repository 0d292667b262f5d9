/* SPDX-License-Identifier: BSD-2-Clause */
/* What top shows of a run, and how keys change it. Independent of the terminal, for tests. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include "store/node_jobs.h"
#include "top/proc.h"
#include "top/saved.h"
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
	KEY_OF_RESIZE,
	KEY_OF_SHIFT_LEFT,
	KEY_OF_SHIFT_RIGHT,
	KEY_OF_CLICK, /* at @mouse_x, @mouse_y of the view */
	KEY_OF_WHEEL_UP,
	KEY_OF_WHEEL_DOWN
};

#define WHEEL_ROWS 3 /* rows of a step of the wheel */

enum view_result { VIEW_GOES_ON, VIEW_QUITS, VIEW_GOES_BACK };

struct view {
	struct model *model;              /* not owned */
	const struct node_job_rows *jobs; /* of the agent, not owned; NULL if unknown */
	struct scene scene;
	struct table rows;
	struct row_choice choice;
	uint32_t chosen[2]; /* bits of columns, as in struct saved */
	uint32_t shown;     /* those of them that fit */
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
	int shift;             /* columns by which arguments are moved to the left */
	int longest;           /* columns of the longest arguments on the screen */
	int mouse_x, mouse_y;  /* cell of a click */
	int body_y;            /* row below the head */
	bool is_typing;        /* a filter is being typed */
	bool is_here;          /* the processes are alive on this machine */
	bool can_go_back;      /* to the list of runs */
	bool is_of_node;       /* the job is the whole node, or what is in no job of it */
	char source[256];      /* title of a run without a name */
	char state[128];       /* of the source; may be empty */
	bool is_alarm;         /* @state is a failure */
	struct waiting waiting;
	struct proc_lines task_lines;
	struct row_key task_key; /* row of @task_lines */
	uint64_t task_version;
};

/* @saved may be NULL. */
void view_init(struct view *v, struct model *m, const struct saved *saved);
/* Copies what the user chose. */
void view_save(const struct view *v, struct saved *saved);
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
/* Returns false for a column of GPUs in a run without them. */
bool draw_offers_column(const struct view *v, int id);
/*
 * Returns the column in row @row of the mode VIEW_COLUMNS, which has @height rows; NR_COLUMNS if
 * there is none.
 */
int draw_columns_at(const struct view *v, int row, int height);
/* Returns the column whose title is at @x, or NR_COLUMNS. */
int draw_title_at(const struct view *v, int x);

struct curve {
	const double *values;
	int nr;
	double most; /* the value of a full bar */
	double full; /* the value of full load, by which bars get their colour; 0: all alike */
	enum style style;
};

/* Draws a curve, a cell for each value, aligned to the right. */
void draw_curve(struct screen *s, int x, int y, int columns, const struct curve *c);

#endif
