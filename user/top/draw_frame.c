// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draws the first lines (the run, its state, its cores, memory and I/O with curves), the last line
 * with the keys, help, and the choice of columns.
 */
#include "text/format.h"
#include "top/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_CURVE MAX_SCREEN_WIDTH
#define LABEL_COLUMNS 8
#define VALUE_COLUMNS 34
#define RECENT_NOTE_NS 60000000000LL

void draw_curve(struct screen *s, int x, int y, int columns_, const struct curve *c)
{
	int first = x + (columns_ > c->nr ? columns_ - c->nr : 0);

	for (int i = 0; i < c->nr && i < columns_; i++) {
		double part = c->most > 0 ? c->values[i] / c->most * 8 : 0;
		enum style style = c->full > 0 ? load_style(c->values[i] / c->full) : c->style;
		int eighths = part > 8 ? 8 : (int)part;

		/* keep any value above 0 visible */
		if (!eighths && c->values[i] > 0)
			eighths = 1;
		screen_bar(s, first + i, y, eighths,
			   style == STYLE_WARN || style == STYLE_HOT ? style : c->style);
	}
}

enum head_curve { HEAD_CORES, HEAD_MEMORY, HEAD_IO };

static double moment_value(const struct model *m, size_t i, enum head_curve curve)
{
	const struct moment *at = &m->moments[i], *before = i ? at - 1 : NULL;
	double bytes, seconds;

	if (curve == HEAD_CORES)
		return (double)at->cores / 1000;
	if (curve == HEAD_MEMORY)
		return (double)at->total.value[MEASURE_RSS];
	if (!before)
		return 0;
	bytes = (double)at->total.value[MEASURE_READ] + (double)at->total.value[MEASURE_WRITE] -
		(double)before->total.value[MEASURE_READ] -
		(double)before->total.value[MEASURE_WRITE];
	seconds = (double)(at->at_ns - before->at_ns) / 1e9;
	return bytes > 0 && seconds > 0 ? bytes / seconds : 0;
}

/* While a run is followed, a wide terminal shows at least so many moments, in wider bars. */
#define LEAST_MOMENTS 60

/*
 * Stores the range of moments behind column @i of a curve, and the number *@nr of columns. While a
 * run is followed these are the latest moments, otherwise all of them, in all columns.
 */
static void curve_part(const struct view *v, int columns_, int i, size_t *from, size_t *to, int *nr)
{
	size_t all = v->model->nr_moments, each = (size_t)columns_ / LEAST_MOMENTS, shown;

	*nr = all ? columns_ : 0;
	if (v->is_following && !v->model->has_summary) {
		each = each ? each : 1;
		shown = all < (size_t)columns_ / each ? all : (size_t)columns_ / each;
		*nr = (int)(shown * each);
		*from = all - shown + (size_t)i / each;
		*to = *from + 1;
		return;
	}
	*from = *nr ? (size_t)i * all / (size_t)*nr : 0;
	*to = *nr ? ((size_t)i + 1) * all / (size_t)*nr : 0;
	if (*to == *from)
		++*to;
}

static double moments_most(const struct model *m, size_t from, size_t to, enum head_curve curve)
{
	double most = 0;

	for (size_t at = from; at < to; at++) {
		double value = moment_value(m, at, curve);

		most = value > most ? value : most;
	}
	return most;
}

static void head_curve_draw(const struct view *v, struct screen *s, int y, int x,
			    enum head_curve curve, double full, enum style style)
{
	size_t moment = model_moment_at(v->model, v->at_ns), from, to;
	double values[MOST_CURVE];
	struct curve c = { .values = values, .most = 1, .full = full, .style = style };
	int columns_ = s->width - x < MOST_CURVE ? s->width - x : MOST_CURVE;

	if (columns_ < 1)
		return;
	curve_part(v, columns_, 0, &from, &to, &c.nr);
	for (int i = 0; i < c.nr; i++) {
		curve_part(v, columns_, i, &from, &to, &c.nr);
		values[i] = moments_most(v->model, from, to, curve);
		c.most = values[i] > c.most ? values[i] : c.most;
	}
	draw_curve(s, x, y, columns_, &c);
	for (int i = 0; !v->is_following && i < c.nr; i++) {
		curve_part(v, columns_, i, &from, &to, &c.nr);
		if (moment >= from && moment < to)
			screen_paint(s, x + columns_ - c.nr + i, y, 1, STYLE_SELECTED);
	}
}

static double cores_limit(const struct model *m)
{
	uint64_t limit = m->cpus * 1000;

	if (m->cpu_limit && (!limit || m->cpu_limit < limit))
		limit = m->cpu_limit;
	return (double)limit / 1000;
}

static uint64_t memory_limit(const struct model *m)
{
	if (m->memory_limit_bytes && m->memory_limit_bytes < m->memory_bytes)
		return m->memory_limit_bytes;
	return m->memory_bytes;
}

static double growth_rate(const struct view *v, enum measure m)
{
	double seconds = (double)(v->scene.at_ns - v->scene.before_ns) / 1e9;

	return seconds > 0 ? (double)v->scene.run_grown.value[m] / seconds : 0;
}

static void head_cores(const struct view *v, struct screen *s, int y, int values)
{
	size_t at = model_moment_at(v->model, v->at_ns);
	double now = at == SIZE_MAX ? 0 : moment_value(v->model, at, HEAD_CORES);
	double limit = cores_limit(v->model);
	char time[FORMAT_BYTES], of[40] = "";
	int x = LABEL_COLUMNS + values + 1, used;
	enum style style;

	if (limit > 0)
		snprintf(of, sizeof(of), " of %.4g", limit);
	format_seconds(time, v->scene.run.value[MEASURE_CPU]);
	style = limit > 0 ? load_style(now / limit) : STYLE_CPU;
	screen_text(s, 0, y, LABEL_COLUMNS, STYLE_CPU, "cores");
	used = screen_printf(s, LABEL_COLUMNS, y, values, style, "%.2f", now);
	screen_printf(s, LABEL_COLUMNS + used, y, values - used, STYLE_PLAIN, "%s   %s CPU", of,
		      time);
	head_curve_draw(v, s, y, x, HEAD_CORES, limit, STYLE_CPU);
}

static void head_memory(const struct view *v, struct screen *s, int y, int values)
{
	char now[FORMAT_BYTES], limit[FORMAT_BYTES], of[80] = "";
	int x = LABEL_COLUMNS + values + 1;

	format_bytes(now, v->scene.run.value[MEASURE_RSS]);
	if (memory_limit(v->model))
		snprintf(of, sizeof(of), " of %s", format_bytes(limit, memory_limit(v->model)));
	screen_text(s, 0, y, LABEL_COLUMNS, STYLE_MEMORY, "memory");
	screen_printf(s, LABEL_COLUMNS, y, values, STYLE_PLAIN, "%s%s", now, of);
	head_curve_draw(v, s, y, x, HEAD_MEMORY, 0, STYLE_MEMORY);
}

static void head_io(const struct view *v, struct screen *s, int y, int values)
{
	char read[16], write[16];
	int x = LABEL_COLUMNS + values + 1;

	bytes_short(read, sizeof(read), growth_rate(v, MEASURE_READ));
	bytes_short(write, sizeof(write), growth_rate(v, MEASURE_WRITE));
	screen_text(s, 0, y, LABEL_COLUMNS, STYLE_IO, "storage");
	screen_printf(s, LABEL_COLUMNS, y, values, STYLE_PLAIN, "%s/s read, %s/s written", read,
		      write);
	head_curve_draw(v, s, y, x, HEAD_IO, 0, STYLE_IO);
}

/* Draws the GPUs that the run holds, if it holds any. Returns the next line. */
static int head_gpus(const struct view *v, struct screen *s, int y)
{
	size_t at = model_moment_at(v->model, v->at_ns);
	const struct moment *m = at == SIZE_MAX ? NULL : &v->model->moments[at];
	char bytes[FORMAT_BYTES], power[FORMAT_BYTES];
	int x = LABEL_COLUMNS;

	if (!m || !m->gpus_held)
		return y;
	screen_text(s, 0, y, LABEL_COLUMNS, STYLE_CPU, "GPU");
	if (m->has_gpus_used)
		x += screen_printf(s, x, y, s->width - x, STYLE_PLAIN, "%.2f of ",
				   (double)m->gpus_used / 1000);
	x += screen_printf(s, x, y, s->width - x, STYLE_PLAIN, "%" PRIu64 " held", m->gpus_held);
	if (usage_has(&m->total, MEASURE_GPU_MEMORY))
		x += screen_printf(s, x, y, s->width - x, STYLE_PLAIN, ", %s",
				   format_bytes(bytes, m->total.value[MEASURE_GPU_MEMORY]));
	if (m->gpu_power_mw)
		x += screen_printf(s, x, y, s->width - x, STYLE_PLAIN, ", %s",
				   format_value(power, UNIT_MILLIWATT, m->gpu_power_mw));
	if (m->gpus_idle)
		screen_printf(s, x, y, s->width - x, STYLE_ALARM, ", %" PRIu64 " idle",
			      m->gpus_idle);
	return y + 1;
}

/* Formats the state of the run, or the moment that is shown. */
static enum style head_state(const struct view *v, char *out, size_t size)
{
	const struct model *m = v->model;
	char at[FORMAT_BYTES], all[FORMAT_BYTES];

	format_seconds(at, v->at_ns > 0 ? (uint64_t)v->at_ns : 0);
	format_seconds(all, (uint64_t)m->now_ns);
	if (!v->is_following) {
		snprintf(out, size, "at %s of %s", at, all);
		return STYLE_WARN;
	}
	if (v->state[0]) {
		snprintf(out, size, "%s, %s", v->state, all);
		return v->is_alarm ? STYLE_ALARM : STYLE_PLAIN;
	}
	if (!m->has_summary) {
		snprintf(out, size, "running, %s", all);
		return STYLE_GOOD;
	}
	if (m->ended_by[0])
		snprintf(out, size, "ended by limit %s after %s", m->ended_by, all);
	else
		snprintf(out, size, "%s after %s", m->has_status ? m->ended : "ended", all);
	return m->ended_by[0] || (m->has_status && (m->signal || m->exit_code)) ? STYLE_ALARM
										: STYLE_PLAIN;
}

static void head_first(const struct view *v, struct screen *s)
{
	const struct model *m = v->model;
	char state[200], counts[80];
	enum style style = head_state(v, state, sizeof(state));
	int right, x;

	snprintf(counts, sizeof(counts), "%zu live, %" PRIu64 " ended", v->scene.nr_actors,
		 v->scene.nr_ended_processes);
	right = screen_measure(s, state);
	screen_text_right(s, 0, 0, s->width, style, state);
	if (s->width >= 70) {
		int columns_ = screen_measure(s, counts);

		screen_text(s, s->width - right - 3 - columns_, 0, columns_, STYLE_PLAIN, counts);
		right += 3 + columns_;
	}
	right = s->width - right - 2;
	x = screen_text(s, 0, 0, right, STYLE_BOLD,
			m->name[0]      ? m->name
			: m->command[0] ? m->command
					: v->source);
	if (m->name[0] && x + 3 < right)
		screen_text(s, x + 2, 0, right - x - 2, STYLE_DIM, m->command);
}

static int head_note(const struct view *v, struct screen *s, int y)
{
	const struct model *m = v->model;
	const struct note *last = NULL;
	char at[FORMAT_BYTES];

	for (size_t i = 0; i < m->nr_notes && i < MAX_NOTES; i++) {
		const struct note *n = &m->notes[i];

		if (n->at_ns <= v->at_ns && n->at_ns > v->at_ns - RECENT_NOTE_NS &&
		    (!last || n->at_ns >= last->at_ns))
			last = n;
	}
	if (!last)
		return y;
	format_seconds(at, last->at_ns > 0 ? (uint64_t)last->at_ns : 0);
	screen_text(s, 0, y, LABEL_COLUMNS, STYLE_WARN, "event");
	screen_printf(s, LABEL_COLUMNS, y, s->width - LABEL_COLUMNS, STYLE_WARN, "%s at %s",
		      last->text, at);
	return y + 1;
}

#define MOST_WAITING 64 /* processes among which the cause is looked for */

/* Writes what the live processes wait for, read with the rights of the user. */
static void stall_reason_find(struct view *v, char *out, size_t size)
{
	int32_t pids[MOST_WAITING];
	size_t nr = 0;

	out[0] = '\0';
	for (size_t i = 0; i < v->scene.nr_actors && nr < MOST_WAITING; i++)
		pids[nr++] = v->model->tasks[v->scene.actors[i].task].pid;
	if (v->is_here && v->is_following)
		waiting_reason(&v->waiting, pids, nr, out, size);
}

/* Returns the present stall of the run, or of the agent's job; NULL if it is not stalled. */
static const struct stall_state *stall_now(const struct view *v)
{
	const struct model *m = v->model;

	if (m->stall.is_stalled)
		return v->at_ns >= m->stall_at_ns && !m->has_summary ? &m->stall : NULL;
	for (size_t i = 0; v->jobs && v->is_following && i < v->jobs->nr; i++)
		if (v->jobs->all[i].stall.is_stalled && !strcmp(v->jobs->all[i].run, m->uuid))
			return &v->jobs->all[i].stall;
	return NULL;
}

/* Draws a text in up to two lines. Returns the next line. */
static int head_text(struct screen *s, int y, enum style style, const char *text)
{
	const char *rest = screen_skip(s, text, s->width), *end = rest;

	while (end > text && *end && *end != ' ')
		end--;
	if (!*rest || end == text) {
		screen_text(s, 0, y, s->width, style, text);
		return y + 1;
	}
	screen_text(s, 0, y, screen_measure(s, text) - screen_measure(s, end), style, text);
	screen_text(s, 2, y + 1, s->width - 2, style, end + 1);
	return y + 2;
}

/* Draws since when nothing is done, and why. Returns the next line. */
static int head_stall(struct view *v, struct screen *s, int y)
{
	const struct stall_state *stall = stall_now(v);
	char reason[sizeof(stall->reason)], since[FORMAT_BYTES], text[sizeof(reason) + 64];
	uint64_t now_ns = v->model->start_epoch_ns + (uint64_t)(v->at_ns > 0 ? v->at_ns : 0);

	if (!stall)
		return y;
	memcpy(reason, stall->reason, sizeof(reason));
	if (!reason[0])
		stall_reason_find(v, reason, sizeof(reason));
	format_seconds(since, now_ns > stall->since_epoch_ns ? now_ns - stall->since_epoch_ns : 0);
	snprintf(text, sizeof(text), "stalled for %s%s%s", since, *reason ? ": " : "", reason);
	return head_text(s, y, STYLE_ALARM, text);
}

int draw_head(struct view *v, struct screen *s)
{
	const char *slowdown = v->model->slowdown; /* of a run that has ended */
	int values = s->width < 60 ? s->width - LABEL_COLUMNS - 8 : VALUE_COLUMNS, below, y;

	head_first(v, s);
	if (s->height < 8)
		return 1;
	head_cores(v, s, 1, values);
	head_memory(v, s, 2, values);
	if (s->height < 12)
		return 3;
	head_io(v, s, 3, values);
	below = head_gpus(v, s, 4);
	y = head_stall(v, s, below);
	if (s->height < 16)
		return y;
	return (y > below
			? y
			: head_note(v, s, *slowdown ? head_text(s, y, STYLE_WARN, slowdown) : y)) +
	       1;
}

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

static const struct {
	const char *key, *what;
} help[] = {
	{ "up down, k j", "previous or next row; also Page Up, Page Down, Home, End" },
	{ "Enter", "show one process: totals, curves, limits and open files" },
	{ "space", "fold or unfold a row" },
	{ "/", "show only processes whose name, arguments or PID match; Esc: all" },
	{ "< >", "sort by the column to the left, to the right" },
	{ "r", "reverse the order" },
	{ "c, s", "choose columns, and the one to sort by" },
	{ "t", "tree, or a flat list" },
	{ "e", "hide or show ended processes" },
	{ "H L", "move arguments to the right or left; also Shift with left, right" },
	{ "left right", "previous or next sample" },
	{ "[ ]", "back or forward by a tenth of the samples" },
	{ "p", "pause; p again continues with the latest sample" },
	{ "mouse", "click a row: select, again: open; a title: sort; the wheel scrolls" },
	{ "Esc", "back" },
	{ "?, h", "this help" },
	{ "q", "quit" },
	{ "", "" },
	{ "+", "A column with a + includes all processes that a process started," },
	{ "", "directly or not, including ended ones." },
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

bool draw_offers_column(const struct view *v, int id)
{
	return v->model->has_gpus || (id != COLUMN_GPU && id != COLUMN_GPU_MEMORY);
}

int draw_columns_at(const struct view *v, int row, int height)
{
	int above = 0, at;

	for (size_t id = 0; id < v->cursor; id++)
		above += draw_offers_column(v, (int)id);
	at = row + (above >= height ? above - height + 1 : 0);
	for (int id = 0; id < NR_COLUMNS; id++)
		if (draw_offers_column(v, id) && !at--)
			return id;
	return NR_COLUMNS;
}

void draw_columns(struct view *v, struct screen *s, int y, int height)
{
	for (int row = 0; row < height; row++) {
		const int id = draw_columns_at(v, row, height), at = y + row;
		const bool is_sorted = id == (int)v->choice.sort;

		if (id == NR_COLUMNS)
			break;
		screen_text(s, 0, at, 4, STYLE_KEY,
			    v->chosen[v->is_of_node] >> id & 1 ? "[x]" : "[ ]");
		screen_text(s, 4, at, 10, is_sorted ? STYLE_SORTED : STYLE_BOLD, columns[id].title);
		screen_text(s, 14, at, s->width - 14, STYLE_PLAIN, columns[id].help);
		if (id == (int)v->cursor)
			screen_paint(s, 0, at, s->width, STYLE_SELECTED);
	}
}
