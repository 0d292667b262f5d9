// SPDX-License-Identifier: BSD-2-Clause
/* The state of the view: the moment, the selected row, and the effect of keys. */
#include "top/view.h"

#include <errno.h>
#include <string.h>

#define SHIFT_COLUMNS 16

void view_init(struct view *v, struct model *m, const struct saved *saved)
{
	struct saved initial;

	saved_init(&initial);
	if (!saved)
		saved = &initial;
	*v = (struct view){ .model = m, .is_following = true };
	memcpy(v->chosen, saved->columns, sizeof(v->chosen));
	v->choice.sort = saved->sort;
	v->choice.is_reversed = saved->is_reversed;
	v->choice.is_flat = saved->is_flat;
}

void view_save(const struct view *v, struct saved *saved)
{
	memcpy(saved->columns, v->chosen, sizeof(v->chosen));
	saved->sort = v->choice.sort;
	saved->is_reversed = v->choice.is_reversed;
	saved->is_flat = v->choice.is_flat;
}

void view_done(struct view *v)
{
	scene_done(&v->scene);
	table_done(&v->rows);
	proc_lines_done(&v->task_lines);
	waiting_done(&v->waiting);
}

/*
 * While the run lasts, the latest sample. Processes that ended after it are shown at the end of the
 * run.
 */
static int64_t view_last_ns(const struct view *v)
{
	const struct model *m = v->model;

	return m->has_summary || !m->nr_moments ? m->now_ns : m->moments[m->nr_moments - 1].at_ns;
}

void view_show_last_live(struct view *v)
{
	const struct model *m = v->model;

	for (size_t i = m->nr_moments; i-- > 0;)
		if (m->moments[i].processes) {
			v->at_ns = m->moments[i].at_ns;
			v->is_following = false;
			break;
		}
	v->is_built = false;
}

static void view_select(struct view *v, size_t at)
{
	if (!v->rows.nr)
		return;
	v->at = at < v->rows.nr ? at : v->rows.nr - 1;
	v->selected = v->rows.list[v->at].key;
}

/* Selects the process @pid_to_select. Returns false if it is not there. */
static bool view_select_pid(struct view *v)
{
	for (size_t i = 0; v->pid_to_select && i < v->rows.nr; i++) {
		const struct row_key *key = &v->rows.list[i].key;

		if (key->kind != ROW_TASK || key->pid != v->pid_to_select)
			continue;
		v->pid_to_select = 0;
		view_select(v, i);
		return true;
	}
	return false;
}

/* Keeps the selection on the same row after a rebuild. */
static void view_find_selected(struct view *v)
{
	if (view_select_pid(v))
		return;
	for (size_t i = 0; i < v->rows.nr; i++)
		if (row_key_is(&v->rows.list[i].key, &v->selected)) {
			v->at = i;
			return;
		}
	view_select(v, v->at);
}

static int view_build(struct view *v)
{
	int err;

	if (v->is_following) {
		if (v->is_built && v->version == v->model->version)
			return 0;
		v->at_ns = view_last_ns(v);
	} else if (v->is_built) {
		return 0;
	}
	err = scene_build(&v->scene, v->model, v->at_ns);
	if (!err)
		err = table_build(&v->rows, v->model, &v->scene, &v->choice);
	if (err)
		return err;
	v->is_built = true;
	v->version = v->model->version;
	view_find_selected(v);
	return 0;
}

/* Moves by @by moments. Beyond the last one, follows the run again. */
static void view_shift_time(struct view *v, long by)
{
	const struct model *m = v->model;
	size_t at = model_moment_at(m, v->at_ns);
	long to = at == SIZE_MAX ? 0 : (long)at + by;

	if (!m->nr_moments)
		return;
	v->is_built = false;
	v->is_following = to >= (long)m->nr_moments;
	if (v->is_following)
		return;
	v->at_ns = m->moments[to < 0 ? 0 : to].at_ns;
}

static void view_pause(struct view *v)
{
	v->is_following = !v->is_following;
	if (v->is_following)
		v->is_built = false;
}

/* Sorts by the column or, if that is so already, the other way round. */
static void view_sort(struct view *v, int id)
{
	if (id >= NR_COLUMNS || !column_has_order((enum column_id)id))
		return;
	v->choice.is_reversed = (int)v->choice.sort == id && !v->choice.is_reversed;
	v->choice.sort = (enum column_id)id;
	v->is_built = false;
}

/* Sorts by the next visible column that can be sorted by. */
static void view_sort_beside(struct view *v, int step)
{
	int id = (int)v->choice.sort;

	do {
		id = (id + step + NR_COLUMNS) % NR_COLUMNS;
	} while (id != (int)v->choice.sort &&
		 (!(v->shown >> id & 1) || !column_has_order((enum column_id)id)));
	v->choice.sort = (enum column_id)id;
	v->choice.is_reversed = false;
	v->is_built = false;
}

static void view_type(struct view *v, int key)
{
	char *filter = v->choice.filter;
	size_t length = strlen(filter);

	if (key == KEY_OF_ENTER || key == KEY_OF_ESCAPE) {
		v->is_typing = false;
		if (key == KEY_OF_ESCAPE)
			filter[0] = '\0';
	} else if (key == KEY_OF_BACKSPACE && length) {
		while (length && ((unsigned char)filter[length - 1] & 0xc0) == 0x80)
			length--;
		filter[length ? length - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 0x7f && length + 1 < FILTER_BYTES) {
		filter[length] = (char)key;
		filter[length + 1] = '\0';
	}
	v->is_built = false;
}

/* Returns the task of the selected row, or NULL. */
static const struct task *view_selected_task(const struct view *v)
{
	const struct table_row *row = v->at < v->rows.nr ? &v->rows.list[v->at] : NULL;

	if (!row || row->key.kind != ROW_TASK)
		return NULL;
	return &v->model->tasks[v->scene.actors[row->index].task];
}

static void view_move(struct view *v, int key)
{
	size_t page = v->page ? v->page : 1;

	v->pid_to_select = 0; /* the user selected another one */
	if (key == KEY_OF_UP || key == 'k')
		view_select(v, v->at ? v->at - 1 : 0);
	else if (key == KEY_OF_DOWN || key == 'j')
		view_select(v, v->at + 1);
	else if (key == KEY_OF_PAGE_UP)
		view_select(v, v->at > page ? v->at - page : 0);
	else if (key == KEY_OF_PAGE_DOWN)
		view_select(v, v->at + page);
	else if (key == KEY_OF_HOME || key == 'g')
		view_select(v, 0);
	else if (key == KEY_OF_END || key == 'G')
		view_select(v, SIZE_MAX);
}

static void view_fold(struct view *v)
{
	if (v->at < v->rows.nr && v->rows.list[v->at].can_fold) {
		row_choice_fold(&v->choice, &v->rows.list[v->at].key);
		v->is_built = false;
	}
}

static void view_open(struct view *v)
{
	if (view_selected_task(v)) {
		v->mode = VIEW_TASK;
		v->scroll = 0;
	} else {
		view_fold(v);
	}
}

/* Arguments move by a few words; the last ones stay on the screen. */
static void view_shift_arguments(struct view *v, int by)
{
	if (by > 0 && v->shift + by >= v->longest)
		return;
	v->shift = v->shift + by > 0 ? v->shift + by : 0;
}

static void view_click_row(struct view *v, size_t at)
{
	bool is_selected = at == v->at;

	if (at >= v->rows.nr)
		return;
	v->pid_to_select = 0;
	view_select(v, at);
	if (is_selected)
		view_open(v);
}

/* A click on a row selects it, another one opens it; a click on a title sorts. */
static void view_click(struct view *v)
{
	int row = v->mouse_y - v->body_y;
	int id;

	if (row < 0 || (size_t)row > v->page)
		return;
	if (v->mode == VIEW_TABLE && !row) {
		view_sort(v, draw_title_at(v, v->mouse_x));
	} else if (v->mode == VIEW_TABLE) {
		view_click_row(v, v->top + (size_t)row - 1);
	} else if (v->mode == VIEW_COLUMNS) {
		id = draw_columns_at(v, row, (int)v->page + 1);
		if (id < NR_COLUMNS)
			v->cursor = (size_t)id;
		if (id < COLUMN_COMMAND && v->mouse_x < 4)
			v->chosen[v->is_of_node] ^= 1U << id;
	}
}

static void view_key_of_mouse(struct view *v, int key)
{
	const int arrow = key == KEY_OF_WHEEL_UP ? KEY_OF_UP : KEY_OF_DOWN;

	if (!v->is_built)
		view_build(v);
	if (key == KEY_OF_CLICK) {
		view_click(v);
		return;
	}
	for (int i = 0; i < WHEEL_ROWS; i++)
		view_key(v, arrow);
}

static void view_key_of_time(struct view *v, int key)
{
	long tenth = (long)v->model->nr_moments / 10;

	if (key == KEY_OF_LEFT)
		view_shift_time(v, -1);
	else if (key == KEY_OF_RIGHT)
		view_shift_time(v, 1);
	else if (key == '[')
		view_shift_time(v, tenth ? -tenth : -1);
	else if (key == ']')
		view_shift_time(v, tenth ? tenth : 1);
	else if (key == 'p')
		view_pause(v);
}

static void view_key_of_rows(struct view *v, int key)
{
	if (key == ' ')
		view_fold(v);
	else if (key == '<' || key == '>')
		view_sort_beside(v, key == '<' ? -1 : 1);
	else if (key == 'r')
		v->choice.is_reversed = !v->choice.is_reversed;
	else if (key == 't')
		v->choice.is_flat = !v->choice.is_flat;
	else if (key == 'e')
		v->choice.hides_ended = !v->choice.hides_ended;
	else if (key == KEY_OF_SHIFT_LEFT || key == 'H')
		view_shift_arguments(v, -SHIFT_COLUMNS);
	else if (key == KEY_OF_SHIFT_RIGHT || key == 'L')
		view_shift_arguments(v, SHIFT_COLUMNS);
	else
		return;
	v->is_built = false;
}

static enum view_result view_key_of_table(struct view *v, int key)
{
	/* a key acts on the rows as changed by the previous one; without memory on the old rows */
	if (!v->is_built)
		view_build(v);
	if (key == '/') {
		v->is_typing = true;
	} else if (key == KEY_OF_ENTER) {
		view_open(v);
	} else if (key == 'c' || key == 's') {
		v->mode = VIEW_COLUMNS;
		v->cursor = v->choice.sort;
	} else if (key == KEY_OF_ESCAPE && v->choice.filter[0]) {
		v->choice.filter[0] = '\0';
		v->is_built = false;
	} else if ((key == KEY_OF_ESCAPE || key == KEY_OF_BACKSPACE) && v->can_go_back) {
		return VIEW_GOES_BACK;
	} else {
		view_move(v, key);
		view_key_of_rows(v, key);
	}
	return VIEW_GOES_ON;
}

/* Moves to the next column that is offered, if there is one. */
static void view_move_cursor(struct view *v, int step)
{
	for (int id = (int)v->cursor + step; id >= 0 && id < NR_COLUMNS; id += step)
		if (draw_offers_column(v, id)) {
			v->cursor = (size_t)id;
			return;
		}
}

static void view_key_of_columns(struct view *v, int key)
{
	if (key == KEY_OF_UP || key == 'k')
		view_move_cursor(v, -1);
	else if (key == KEY_OF_DOWN || key == 'j')
		view_move_cursor(v, 1);
	else if (key == ' ' && v->cursor != COLUMN_COMMAND)
		v->chosen[v->is_of_node] ^= 1U << v->cursor;
	else if ((key == 's' || key == KEY_OF_ENTER) && column_has_order(v->cursor))
		v->choice.sort = (enum column_id)v->cursor;
	if (key == 'c' || key == 's' || key == KEY_OF_ENTER || key == KEY_OF_ESCAPE)
		v->mode = VIEW_TABLE;
	v->is_built = false;
}

/* Keys of scrolled text. */
static void view_key_of_page(struct view *v, int key)
{
	size_t page = v->page ? v->page : 1;

	if (key == KEY_OF_UP || key == 'k')
		v->scroll -= v->scroll > 0;
	else if (key == KEY_OF_DOWN || key == 'j')
		v->scroll++;
	else if (key == KEY_OF_PAGE_UP)
		v->scroll -= v->scroll < page ? v->scroll : page;
	else if (key == KEY_OF_PAGE_DOWN || key == ' ')
		v->scroll += page;
	else if (key == KEY_OF_ESCAPE || key == KEY_OF_ENTER || key == KEY_OF_BACKSPACE ||
		 (v->mode == VIEW_HELP && (key == '?' || key == 'h')))
		v->mode = VIEW_TABLE;
}

enum view_result view_key(struct view *v, int key)
{
	if (v->is_typing) {
		view_type(v, key);
		return VIEW_GOES_ON;
	}
	if (key == 'q')
		return VIEW_QUITS;
	if (key == KEY_OF_CLICK || key == KEY_OF_WHEEL_UP || key == KEY_OF_WHEEL_DOWN) {
		view_key_of_mouse(v, key);
		return VIEW_GOES_ON;
	}
	view_key_of_time(v, key);
	if (v->mode != VIEW_HELP && (key == '?' || key == 'h')) {
		v->mode = VIEW_HELP;
		v->scroll = 0;
	} else if (v->mode == VIEW_COLUMNS) {
		view_key_of_columns(v, key);
	} else if (v->mode == VIEW_TABLE) {
		return view_key_of_table(v, key);
	} else {
		view_key_of_page(v, key);
	}
	return VIEW_GOES_ON;
}

int view_draw(struct view *v, struct screen *s)
{
	int err = view_build(v), y, height;

	if (err)
		return err;
	screen_clear(s);
	y = draw_head(v, s);
	v->body_y = y;
	height = s->height - y - 1;
	if (height < 1)
		height = 1;
	v->page = height > 1 ? (size_t)height - 1 : 1;
	if (v->mode == VIEW_TASK)
		draw_task(v, s, y, height);
	else if (v->mode == VIEW_HELP)
		draw_help(v, s, y, height);
	else if (v->mode == VIEW_COLUMNS)
		draw_columns(v, s, y, height);
	else
		draw_table(v, s, y, height);
	draw_foot(v, s);
	return 0;
}
