// SPDX-License-Identifier: BSD-2-Clause
/* The table of processes: titles, and as many rows as there is room for. */
#include "top/view.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_COLUMNS 16 /* that it has at least, where other columns can go */
#define CACHED_USERS 64
#define ARGS_BYTES 512 /* more is on no screen */

const char *uid_name(uint32_t uid)
{
	static struct {
		uint32_t uid;
		char name[33];
	} cache[CACHED_USERS];
	static size_t nr;
	const struct passwd *p;
	size_t i;

	for (i = 0; i < nr && i < CACHED_USERS; i++)
		if (cache[i].uid == uid)
			return cache[i].name;
	i = nr++ % CACHED_USERS;
	p = getpwuid(uid);
	cache[i].uid = uid;
	if (p)
		snprintf(cache[i].name, sizeof(cache[i].name), "%s", p->pw_name);
	else
		snprintf(cache[i].name, sizeof(cache[i].name), "%" PRIu32, uid);
	return cache[i].name;
}

static void titles_draw(const struct view *v, struct screen *s, int y)
{
	int x = 0;

	screen_paint(s, 0, y, s->width, STYLE_TITLE);
	for (int i = 0; i < NR_COLUMNS; i++) {
		enum style style = i == (int)v->choice.sort ? STYLE_SORTED : STYLE_TITLE;
		int width = columns[i].width;

		if (!(v->shown >> i & 1))
			continue;
		if (i == COLUMN_COMMAND || columns[i].is_left)
			screen_text(s, x, y, i == COLUMN_COMMAND ? s->width - x : width, style,
				    columns[i].title);
		else
			screen_text_right(s, x, y, width, style, columns[i].title);
		x += width + 1;
	}
}

/* The lines of the tree before a row's name. */
static int tree_draw(const struct view *v, struct screen *s, int x, int y,
		     const struct table_row *row)
{
	const char *line = s->is_utf8 ? "\u2502 " : "| ";
	const char *branch = s->is_utf8 ? "\u251c\u2500" : "|-";
	const char *last = s->is_utf8 ? "\u2514\u2500" : "`-";

	if (v->choice.is_flat && row->key.kind == ROW_TASK)
		return x;
	for (unsigned d = 1; d < row->depth; d++)
		x += screen_text(s, x, y, s->width - x, STYLE_DIM,
				 row->guides >> d & 1 ? line : "  ");
	if (row->depth)
		x += screen_text(s, x, y, s->width - x, STYLE_DIM, row->is_last ? last : branch);
	if (row->is_folded)
		x += screen_text(s, x, y, s->width - x, STYLE_KEY, s->is_utf8 ? "\u25b8" : "+");
	return x;
}

static const char *name_of_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The arguments of its record; of a live one, which has none yet, those of /proc. */
static void task_name_draw(const struct view *v, struct screen *s, int x, int y,
			   const struct actor *a, const struct table_row *row, bool is_alive)
{
	const struct task *t = &v->model->tasks[a->task];
	const char *program = v->model->programs[t->program].name;
	bool is_folded = row->is_folded;
	char args[ARGS_BYTES];

	if (t->args) {
		x += screen_text(s, x, y, s->width - x, STYLE_PLAIN, t->args);
	} else if (is_alive && proc_arguments(t->pid, args, sizeof(args))) {
		x += screen_text(s, x, y, s->width - x, STYLE_PLAIN, args);
	} else {
		x += screen_text(s, x, y, s->width - x, STYLE_PLAIN,
				 t->comm[0] ? t->comm : name_of_path(program));
		if (strcmp(name_of_path(program), t->comm) != 0)
			x += screen_printf(s, x, y, s->width - x, STYLE_DIM, " %s", program);
	}
	if (is_folded && a->nr_children)
		x += screen_printf(s, x, y, s->width - x, STYLE_DIM, " (+%" PRIu32 ")",
				   a->nr_children);
	if (a->nr_below)
		screen_printf(s, x, y, s->width - x, STYLE_DIM, " [%" PRIu32 " ended]",
			      a->nr_below);
}

static void row_name_draw(const struct view *v, struct screen *s, int x, int y,
			  const struct table_row *row, bool is_alive)
{
	const struct model *m = v->model;
	const struct ended_program *e;

	x = tree_draw(v, s, x, y, row);
	switch (row->key.kind) {
	case ROW_RUN:
		screen_printf(s, x, y, s->width - x, STYLE_BOLD, "%s",
			      m->name[0] ? m->name : "all of the run");
		break;
	case ROW_TASK:
		task_name_draw(v, s, x, y, &v->scene.actors[row->index], row, is_alive);
		break;
	case ROW_SPAN:
		screen_printf(s, x, y, s->width - x, STYLE_SPAN, "span %s",
			      m->spans[row->index].name);
		break;
	case ROW_ENDED:
		screen_printf(s, x, y, s->width - x, STYLE_BOLD, "ended: %" PRIu64 " process%s",
			      v->scene.nr_ended_processes,
			      v->scene.nr_ended_processes == 1 ? "" : "es");
		break;
	case ROW_PROGRAM:
		e = &v->scene.ended[row->index];
		x += screen_text(s, x, y, s->width - x, STYLE_PLAIN, m->programs[e->program].name);
		screen_printf(s, x, y, s->width - x, STYLE_DIM, " x%" PRIu64, e->nr);
		break;
	case ROW_SPANS:
		screen_printf(s, x, y, s->width - x, STYLE_BOLD, "ended: %" PRIu64 " span%s",
			      v->rows.all_spans.nr, v->rows.all_spans.nr == 1 ? "" : "s");
		break;
	case ROW_SPAN_NAME:
		x += screen_text(s, x, y, s->width - x, STYLE_SPAN, v->rows.spans[row->index].name);
		screen_printf(s, x, y, s->width - x, STYLE_DIM, " x%" PRIu64,
			      v->rows.spans[row->index].nr);
		break;
	}
}

/* What the title of the column has already. */
static const char *without_begin(const char *waits)
{
	static const char begin[] = "waits for ";

	return strncmp(waits, begin, strlen(begin)) ? waits : waits + strlen(begin);
}

/* What it waits for is asked for the rows on the screen only. */
static void row_draw(struct view *v, struct screen *s, int y, const struct table_row *row)
{
	char waits[WAITING_BYTES], text[WAITING_BYTES];
	struct row_values values;
	enum style style;
	int x = 0;

	row_values(&v->rows, v->model, &v->scene, row, &values);
	if (values.task && values.task->has_uid)
		values.user = uid_name(values.task->uid);
	if (values.task && v->is_here && v->is_following &&
	    waiting_text(&v->waiting, values.task->pid, values.task->start_epoch_ns, &values.state,
			 waits, sizeof(waits)))
		values.waits = without_begin(waits);
	for (int i = 0; i < COLUMN_COMMAND; i++) {
		const struct column *c = &columns[i];

		if (!(v->shown >> i & 1))
			continue;
		column_text((enum column_id)i, &values, text, sizeof(text), &style);
		if (c->is_left)
			screen_text(s, x, y, c->width, style, text);
		else
			screen_text_right(s, x, y, c->width, style, text);
		x += c->width + 1;
	}
	row_name_draw(v, s, x, y, row, values.state != 0);
}

/* All of a screen are read at once. */
static void rows_ask(struct view *v, size_t page)
{
	if (!v->is_here || !v->is_following)
		return;
	waiting_begin(&v->waiting);
	for (size_t i = v->top; i < v->rows.nr && i < v->top + page; i++) {
		struct row_values values;

		row_values(&v->rows, v->model, &v->scene, &v->rows.list[i], &values);
		if (values.task)
			waiting_add(&v->waiting, values.task->pid, values.task->start_epoch_ns);
	}
}

void draw_table(struct view *v, struct screen *s, int y, int height)
{
	uint32_t chosen = v->chosen;
	size_t page = height > 1 ? (size_t)height - 1 : 1;

	if (!v->is_here) /* nothing is known of these */
		chosen &= ~(1U << COLUMN_STATE | 1U << COLUMN_WAITS);
	v->shown = columns_within(chosen, s->width, COMMAND_COLUMNS) | 1U << COLUMN_COMMAND;
	if (v->at < v->top)
		v->top = v->at;
	if (v->at >= v->top + page)
		v->top = v->at - page + 1;
	if (v->top + page > v->rows.nr)
		v->top = v->rows.nr > page ? v->rows.nr - page : 0;
	titles_draw(v, s, y);
	rows_ask(v, page);
	for (size_t i = 0; i < page && v->top + i < v->rows.nr; i++) {
		row_draw(v, s, y + 1 + (int)i, &v->rows.list[v->top + i]);
		if (v->top + i == v->at)
			screen_paint(s, 0, y + 1 + (int)i, s->width, STYLE_SELECTED);
	}
	/* the frame around the table is only its first line */
	screen_paint(s, 0, y + (int)page + 1, s->width, STYLE_PLAIN);
}
