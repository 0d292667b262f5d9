// SPDX-License-Identifier: BSD-2-Clause
/* Draws the table of processes, and the page of one process. */
#include "run/job_id.h"
#include "store/node_jobs.h"
#include "text/format.h"
#include "top/view.h"

#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define COMMAND_COLUMNS 16 /* minimum width of the command */
#define CACHED_USERS 64
#define ARGS_BYTES 4096

/* Returns the name of a user from a cache, or the number of a user without a name. */
static const char *uid_name(uint32_t uid)
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

int draw_title_at(const struct view *v, int x)
{
	int end = 0;

	for (int i = 0; i < COLUMN_COMMAND; i++) {
		if (!(v->shown >> i & 1))
			continue;
		end += columns[i].width + 1;
		if (x < end)
			return i;
	}
	return COLUMN_COMMAND;
}

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

/* Draws arguments without the columns by which they are moved. Returns the columns used. */
static int arguments_draw(struct view *v, struct screen *s, int x, int y, const char *text)
{
	int columns_ = screen_measure(s, text);

	v->longest = columns_ > v->longest ? columns_ : v->longest;
	return screen_text(s, x, y, s->width - x, STYLE_PLAIN, screen_skip(s, text, v->shift));
}

/* Draws the arguments from the record or, for a live process without one, from /proc. */
static void task_name_draw(struct view *v, struct screen *s, int x, int y, const struct actor *a,
			   const struct table_row *row, bool is_alive)
{
	const struct task *t = &v->model->tasks[a->task];
	const char *program = v->model->programs[t->program].name;
	bool is_folded = row->is_folded;
	char args[ARGS_BYTES];

	if (t->args) {
		x += arguments_draw(v, s, x, y, t->args);
	} else if (is_alive && proc_arguments(t->pid, args, sizeof(args))) {
		x += arguments_draw(v, s, x, y, args);
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

static void row_name_draw(struct view *v, struct screen *s, int x, int y,
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

/* Writes the job of a process, or "". */
static void job_of_process(const struct view *v, int32_t pid, char *out, size_t size)
{
	const struct node_job_row *job = NULL;

	out[0] = '\0';
	if (v->jobs && v->shown >> COLUMN_JOB & 1)
		job_match_process(v->jobs, pid, &job);
	if (job)
		job_id_format(out, size, job->id);
}

/* Reads waits only for rows on the screen. */
static void row_draw(struct view *v, struct screen *s, int y, const struct table_row *row)
{
	char waits[WAITING_BYTES], text[WAITING_BYTES], job[JOB_ID_BYTES];
	struct row_values values;
	enum style style;
	int x = 0;

	row_values(&v->rows, v->model, &v->scene, row, &values);
	if (values.task && values.task->has_uid)
		values.user = uid_name(values.task->uid);
	if (values.task && v->is_here && v->is_following) {
		job_of_process(v, values.task->pid, job, sizeof(job));
		values.job = job;
	}
	if (values.task && v->is_here && v->is_following &&
	    waiting_text(&v->waiting, values.task->pid, values.task->start_epoch_ns, &values.state,
			 waits, sizeof(waits))) {
		/* the title of the column has these words already */
		values.waits = waits + (strncmp(waits, "waits for ", 10) ? 0 : 10);
	}
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

/* Announces all rows of the screen, so that they are read at once. */
static void rows_add_waiting(struct view *v, size_t page)
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
	uint32_t chosen = v->chosen[v->is_of_node];
	size_t page = height > 1 ? (size_t)height - 1 : 1;

	if (!v->is_here) /* unknown for other hosts */
		chosen &= ~(1U << COLUMN_STATE | 1U << COLUMN_WAITS | 1U << COLUMN_JOB);
	for (int i = 0; i < COLUMN_COMMAND; i++)
		if (!draw_offers_column(v, i))
			chosen &= ~(1U << i);
	if (!v->jobs)
		chosen &= ~(1U << COLUMN_JOB);
	v->shown = columns_limit_width(chosen, s->width, COMMAND_COLUMNS) | 1U << COLUMN_COMMAND;
	if (v->at < v->top)
		v->top = v->at;
	if (v->at >= v->top + page)
		v->top = v->at - page + 1;
	if (v->top + page > v->rows.nr)
		v->top = v->rows.nr > page ? v->rows.nr - page : 0;
	titles_draw(v, s, y);
	v->longest = 0;
	rows_add_waiting(v, page);
	for (size_t i = 0; i < page && v->top + i < v->rows.nr; i++) {
		row_draw(v, s, y + 1 + (int)i, &v->rows.list[v->top + i]);
		if (v->top + i == v->at)
			screen_paint(s, 0, y + 1 + (int)i, s->width, STYLE_SELECTED);
	}
	screen_paint(s, 0, y + (int)page + 1, s->width, STYLE_PLAIN);
}

/* The page of one process: its record so far, its curves, and limits and files from /proc. */

#define LABEL 15
#define VALUE 13

/* Scrollable lines: only those from @scroll on are drawn. */
struct page_lines {
	struct screen *s;
	int y, height;
	size_t line, scroll;
};

/* Returns the row of the next line, or -1 if it is not visible. */
static int page_next(struct page_lines *p)
{
	size_t line = p->line++;

	if (line < p->scroll || line - p->scroll >= (size_t)p->height)
		return -1;
	return p->y + (int)(line - p->scroll);
}

/* Draws a field, in as many lines as its text needs. */
static void page_field(struct page_lines *p, const char *label, const char *text)
{
	int columns_ = p->s->width > LABEL ? p->s->width - LABEL : 1, y;

	do {
		y = page_next(p);
		if (y >= 0) {
			screen_text(p->s, 0, y, LABEL, STYLE_DIM, label);
			screen_text(p->s, LABEL, y, columns_, STYLE_PLAIN, text);
		}
		text = screen_skip(p->s, text, columns_);
		label = "";
	} while (*text);
}

static void page_title(struct page_lines *p, const char *text)
{
	int y;

	page_next(p);
	y = page_next(p);
	if (y >= 0)
		screen_text(p->s, 0, y, p->s->width, STYLE_BOLD, text);
}

static void measure_text(enum measure m, const struct usage *u, char *out)
{
	const struct metric *metric = metric_get(measure_metric(m));

	if (!usage_has(u, m))
		snprintf(out, FORMAT_BYTES, "-");
	else
		format_value(out, metric->unit, u->value[m]);
}

static void page_usage(struct page_lines *p, const struct usage *own, const struct usage *sum)
{
	static const char *const names[NR_MEASURES] = {
		[MEASURE_CPU] = "CPU",
		[MEASURE_USER] = "  user",
		[MEASURE_SYSTEM] = "  system",
		[MEASURE_RUNQUEUE] = "waited for CPU",
		[MEASURE_MINFLT] = "minor faults",
		[MEASURE_MAJFLT] = "major faults",
		[MEASURE_NVCSW] = "switches",
		[MEASURE_NIVCSW] = "  involuntary",
		[MEASURE_RCHAR] = "read by calls",
		[MEASURE_WCHAR] = "written by calls",
		[MEASURE_READ] = "storage read",
		[MEASURE_WRITE] = "storage written",
		[MEASURE_GPU] = "GPU",
		[MEASURE_RSS] = "memory",
		[MEASURE_SWAP] = "swap",
		[MEASURE_THREADS] = "threads",
		[MEASURE_GPU_MEMORY] = "GPU memory",
	};
	char text[FORMAT_BYTES];
	int y;

	page_title(p, "what it has used");
	y = p->line > p->scroll ? p->y + (int)(p->line - 1 - p->scroll) : -1;
	if (y >= p->y && y < p->y + p->height) {
		screen_text_right(p->s, LABEL, y, VALUE, STYLE_DIM, "itself");
		screen_text_right(p->s, LABEL + VALUE, y, VALUE + 2, STYLE_DIM, "with all below");
	}
	for (int m = 0; m < NR_MEASURES; m++) {
		if (!usage_has(own, (enum measure)m) && !usage_has(sum, (enum measure)m))
			continue;
		y = page_next(p);
		if (y < 0)
			continue;
		screen_text(p->s, 0, y, LABEL, STYLE_DIM, names[m]);
		measure_text((enum measure)m, own, text);
		screen_text_right(p->s, LABEL, y, VALUE, STYLE_PLAIN, text);
		measure_text((enum measure)m, sum, text);
		screen_text_right(p->s, LABEL + VALUE, y, VALUE + 2, STYLE_PLAIN, text);
	}
}

/* Returns the value of point @i: a gauge, or the growth of a counter per second. */
static double point_value(const struct task *t, uint32_t i, enum measure m)
{
	const struct point *p = &t->points[i];
	double value = (double)p->used.value[m], seconds;

	if (m >= MEASURE_FIRST_GAUGE)
		return value;
	if (!i)
		return 0;
	value -= (double)p[-1].used.value[m];
	seconds = (double)(p->at_ns - p[-1].at_ns) / 1e9;
	return value > 0 && seconds > 0 ? value / seconds : 0;
}

static void page_curve(struct page_lines *p, const struct task *t, uint32_t until, enum measure m,
		       const char *name, double least, enum style style)
{
	double values[MAX_SCREEN_WIDTH];
	struct curve c = { .values = values, .most = least, .style = style };
	int room = p->s->width - LABEL - 10, y = page_next(p);
	uint32_t points;
	char text[16];

	if (y < 0 || room < 1)
		return;
	points = until < (uint32_t)room ? until : (uint32_t)room;
	for (c.nr = 0; c.nr < room; c.nr++) {
		values[c.nr] = point_value(
			t, until - points + (uint32_t)c.nr * points / (uint32_t)room, m);
		c.most = values[c.nr] > c.most ? values[c.nr] : c.most;
	}
	if (m == MEASURE_CPU) {
		c.full = 1e9;
		snprintf(text, sizeof(text), "%.2f", c.most / 1e9);
	} else {
		bytes_short(text, sizeof(text), c.most);
	}
	screen_text(p->s, 0, y, LABEL, style, name);
	draw_curve(p->s, LABEL, y, room, &c);
	screen_printf(p->s, LABEL + room + 1, y, 10, STYLE_DIM, "%s %s",
		      p->s->is_utf8 ? "\u2264" : "<=", text);
}

static void page_curves(struct page_lines *p, const struct view *v, const struct task *t)
{
	const struct point *last = task_point_at(t, v->at_ns);
	uint32_t until = last ? (uint32_t)(last - t->points) + 1 : 0;

	if (until < 2)
		return;
	page_title(p, "over time");
	page_curve(p, t, until, MEASURE_CPU, "cores", 1e9, STYLE_CPU);
	page_curve(p, t, until, MEASURE_RSS, "memory", 1, STYLE_MEMORY);
	if (usage_has(&last->used, MEASURE_READ))
		page_curve(p, t, until, MEASURE_READ, "read/s", 1, STYLE_IO);
	if (usage_has(&last->used, MEASURE_WRITE))
		page_curve(p, t, until, MEASURE_WRITE, "written/s", 1, STYLE_IO);
}

static void page_state(struct page_lines *p, struct view *v, const struct task *t)
{
	char waits[WAITING_BYTES], text[WAITING_BYTES + 4], state;

	waiting_begin(&v->waiting);
	if (!waiting_text(&v->waiting, t->pid, t->start_epoch_ns, &state, waits, sizeof(waits)))
		return;
	snprintf(text, sizeof(text), "%c  %s", state, waits);
	page_field(p, "state", text);
}

static void page_facts(struct page_lines *p, struct view *v, const struct task *t)
{
	const struct task *parent = t->parent ? &v->model->tasks[t->parent - 1] : NULL;
	char text[MODEL_TEXT_BYTES], moment[MOMENT_BYTES], args[ARGS_BYTES];
	int64_t idle = task_idle_since(t, v->at_ns);

	snprintf(text, sizeof(text), "%d  %s", t->pid, t->comm);
	page_field(p, "process", text);
	page_field(p, "program", v->model->programs[t->program].name);
	if (t->args)
		page_field(p, "arguments", t->args);
	else if (v->is_here && proc_arguments(t->pid, args, sizeof(args)))
		page_field(p, "arguments", args);
	if (t->has_uid)
		page_field(p, "user", uid_name(t->uid));
	snprintf(text, sizeof(text), "%d  %s", t->ppid, parent ? parent->comm : "");
	if (t->ppid)
		page_field(p, "started by", text);
	page_field(p, "started", format_moment(moment, t->start_epoch_ns, true));
	if (t->end_ns <= v->at_ns && t->signal)
		snprintf(text, sizeof(text), "killed by signal %d", t->signal);
	else if (t->end_ns <= v->at_ns)
		snprintf(text, sizeof(text), t->has_record ? "with %d" : "unseen", t->exit_code);
	if (t->end_ns <= v->at_ns)
		page_field(p, "ended", text);
	if (v->is_here && v->is_following)
		page_state(p, v, t);
	if (idle != MODEL_NEVER && v->at_ns - idle >= 1000000000) {
		format_seconds(text, (uint64_t)(v->at_ns - idle));
		page_field(p, "has not run for", text);
	}
}

/* Reads limits and files again after each sample. */
static void task_lines_refresh(struct view *v, const struct task *t)
{
	bool is_same = row_key_is(&v->task_key, &v->selected);

	if (is_same && v->task_version == v->model->version)
		return;
	proc_lines_done(&v->task_lines);
	v->task_key = v->selected;
	v->task_version = v->model->version;
	if (v->is_here && v->is_following)
		proc_lines_read(&v->task_lines, t->pid, t->start_epoch_ns);
}

static void page_draw_all(struct view *v, struct page_lines *p, const struct task *t)
{
	const struct actor *a = scene_find(&v->scene, (uint32_t)(t - v->model->tasks));
	int y;

	page_facts(p, v, t);
	page_usage(p, a ? &a->own : &t->last, a ? &a->sum : &t->last);
	page_curves(p, v, t);
	task_lines_refresh(v, t);
	if (v->task_lines.nr)
		page_next(p);
	for (size_t i = 0; i < v->task_lines.nr; i++) {
		const char *line = v->task_lines.lines[i];

		y = page_next(p);
		if (y >= 0)
			screen_text(p->s, 0, y, p->s->width,
				    *line == ' ' ? STYLE_PLAIN : STYLE_BOLD, line);
	}
}

void draw_task(struct view *v, struct screen *s, int y, int height)
{
	ssize_t index = v->selected.kind == ROW_TASK
				? model_find(v->model, v->selected.pid, v->selected.id)
				: -1;
	struct page_lines p = { .s = s, .y = y, .height = height, .scroll = v->scroll };

	if (index < 0) {
		screen_text(s, 0, y, s->width, STYLE_DIM,
			    "This process has ended; its usage is "
			    "only in the sums.");
		return;
	}
	page_draw_all(v, &p, &v->model->tasks[index]);
	/* do not scroll beyond the last line */
	if (p.line < v->scroll + (size_t)height && v->scroll) {
		v->scroll = p.line > (size_t)height ? p.line - (size_t)height : 0;
		for (int i = 0; i < height; i++)
			screen_printf(s, 0, y + i, s->width, STYLE_PLAIN, "%*s", s->width, "");
		p = (struct page_lines){ .s = s, .y = y, .height = height, .scroll = v->scroll };
		page_draw_all(v, &p, &v->model->tasks[index]);
	}
}
