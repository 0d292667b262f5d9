// SPDX-License-Identifier: BSD-2-Clause
/* The list of the runs that go on, from the stores. */
#include "top/session_parts.h"

#include "base/clock.h"
#include "store/query.h"
#include "top/curses.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define REFRESH_MS 1000
#define NUMBER_COLUMNS 8
#define TIME_COLUMNS 9
#define NAME_COLUMNS 20

struct run_list {
	struct stored_runs runs;
	size_t at;
	char why[2 * STREAM_WHY_BYTES]; /* what could not be read */
};

static int run_list_read(struct run_list *l, const struct top_options *o)
{
	const struct run_filter filter = { .state = ONLY_RUNNING };
	int err = 0;

	stored_runs_done(&l->runs);
	l->why[0] = '\0';
	for (size_t i = 0; i < o->nr_stores && err != -ENOMEM; i++) {
		struct database d;

		err = database_open(&d, o->stores[i], DATABASE_READ);
		if (!err)
			err = query_runs(&d, i, &filter, &l->runs);
		if (err && err != -ENOENT)
			snprintf(l->why, sizeof(l->why), "%s: %s", o->stores[i],
				 d.why[0] ? d.why : strerror(-err));
		database_close(&d);
	}
	if (err == -ENOMEM || stored_runs_unique(&l->runs) ||
	    stored_runs_select(&l->runs, ONLY_RUNNING))
		return -ENOMEM;
	stored_runs_sort(&l->runs, BY_START);
	if (l->at >= l->runs.nr)
		l->at = l->runs.nr ? l->runs.nr - 1 : 0;
	return 0;
}

static void run_draw(struct screen *s, int y, const struct stored_run *r)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	char text[32];
	int x = 0;

	snprintf(text, sizeof(text), "%" PRId64, r->id);
	screen_text_right(s, x, y, NUMBER_COLUMNS, STYLE_PLAIN, text);
	x += NUMBER_COLUMNS + 1;
	duration_short(text, sizeof(text),
		       now_ns > r->start_epoch_ns ? now_ns - r->start_epoch_ns : 0);
	screen_text_right(s, x, y, TIME_COLUMNS, STYLE_GOOD, text);
	x += TIME_COLUMNS + 2;
	screen_text(s, x, y, NAME_COLUMNS, STYLE_BOLD, r->name ? r->name : "");
	x += NAME_COLUMNS + 1;
	screen_text(s, x, y, s->width - x, STYLE_PLAIN, r->command ? r->command : "");
}

static void run_list_draw(const struct run_list *l, struct screen *s)
{
	int rows = s->height - 3;
	size_t top = rows > 0 && l->at >= (size_t)rows ? l->at - (size_t)rows + 1 : 0;

	screen_clear(s);
	screen_printf(s, 0, 0, s->width, STYLE_BOLD, "%zu run%s under way", l->runs.nr,
		      l->runs.nr == 1 ? "" : "s");
	screen_paint(s, 0, 1, s->width, STYLE_TITLE);
	screen_text_right(s, 0, 1, NUMBER_COLUMNS, STYLE_TITLE, "RUN");
	screen_text_right(s, NUMBER_COLUMNS + 1, 1, TIME_COLUMNS, STYLE_TITLE, "SINCE");
	screen_text(s, NUMBER_COLUMNS + TIME_COLUMNS + 3, 1, NAME_COLUMNS, STYLE_TITLE, "NAME");
	screen_text(s, NUMBER_COLUMNS + TIME_COLUMNS + NAME_COLUMNS + 4, 1, s->width, STYLE_TITLE,
		    "COMMAND");
	for (int i = 0; i < rows && top + (size_t)i < l->runs.nr; i++) {
		run_draw(s, 2 + i, &l->runs.runs[top + (size_t)i]);
		if (top + (size_t)i == l->at)
			screen_paint(s, 0, 2 + i, s->width, STYLE_SELECTED);
	}
	if (!l->runs.nr)
		screen_text(s, 0, 3, s->width, STYLE_DIM,
			    "A run that begins now appears here: bpfmon -- COMMAND");
	if (l->why[0])
		screen_text(s, 0, s->height - 2, s->width, STYLE_ALARM, l->why);
	screen_text(s, 0, s->height - 1, s->width, STYLE_PLAIN, "q quit  Enter open");
}

/* True: one is chosen. */
static bool run_list_key(struct session *s, struct run_list *l, int key)
{
	if (key == 'q')
		s->is_over = true;
	else if ((key == KEY_OF_UP || key == 'k') && l->at)
		l->at--;
	else if ((key == KEY_OF_DOWN || key == 'j') && l->at + 1 < l->runs.nr)
		l->at++;
	else if (key == KEY_OF_RESIZE)
		s->has_resized = true;
	else if (key == KEY_OF_ENTER && l->runs.nr)
		return true;
	return false;
}

static int run_list_turn(struct session *s, struct run_list *l, const struct top_options *o,
			 bool *is_chosen)
{
	struct pollfd fds[] = { { .fd = s->keys_fd, .events = POLLIN },
				{ .fd = s->signals_fd, .events = POLLIN } };
	int err = session_fit_screen(s), key;

	if (err)
		return err;
	run_list_draw(l, &s->screen);
	curses_show(&s->screen, s->has_resized);
	s->has_resized = false;
	if (!poll(fds, 2, REFRESH_MS))
		err = run_list_read(l, o);
	if (fds[0].revents & (POLLHUP | POLLERR))
		s->is_over = true;
	session_read_signals(s);
	while (!s->is_over && !*is_chosen && (key = curses_key()))
		*is_chosen = run_list_key(s, l, key);
	return err;
}

int session_choose_run(struct session *s, const struct top_options *o)
{
	struct run_list l = { 0 };
	bool is_chosen = false;
	int err = run_list_read(&l, o);

	s->has_resized = true;
	while (!err && !s->is_over && !is_chosen)
		err = run_list_turn(s, &l, o, &is_chosen);
	if (is_chosen) {
		s->store = o->stores[l.runs.runs[l.at].source];
		s->run = l.runs.runs[l.at].id;
		s->is_running = true;
	}
	stored_runs_done(&l.runs);
	return err;
}
