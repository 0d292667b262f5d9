// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_list.h"

#include "base/clock.h"
#include "base/memory.h"
#include "run/job_id.h"
#include "store/node_jobs.h"
#include "text/format.h"
#include "text/jobs_text.h"
#include "top/top_column.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES (16 << 20)
#define AGAIN_NS (2 * NSEC_PER_SEC)  /* interval of attempts to connect */
#define TURN_NS (20 * NSEC_PER_MSEC) /* longest delay of a key */

static void node_watch_disconnect(struct node_watch *w)
{
	if (w->has_call)
		agent_call_done(&w->call);
	w->has_call = w->has_answered = false;
	line_stream_reset(&w->lines);
	node_jobs_done(&w->rows);
}

/* The message that the agent has ended is kept: it is more useful than errors of its socket. */
static void node_watch_fail(struct node_watch *w, const char *why)
{
	w->has_call = false;
	if (!w->has_ended)
		snprintf(w->why, sizeof(w->why), "%s", why);
}

static void node_watch_connect(struct node_watch *w)
{
	char why[NODE_WATCH_WHY_BYTES];

	w->attempt_ns = clock_ns(CLOCK_MONOTONIC);
	w->has_call = true;
	if (agent_call_begin_node(&w->call, w->agent, why, sizeof(why)))
		node_watch_fail(w, why);
}

void node_watch_begin(struct node_watch *w, const char *agent)
{
	*w = (struct node_watch){ .agent = agent, .lines.most = LINE_BYTES };
	if (agent)
		node_watch_connect(w);
}

int node_watch_fd(const struct node_watch *w)
{
	return !w->has_call ? -1 : w->has_answered ? w->call.stream_fd : w->call.control_fd;
}

static bool node_watch_has_input(const struct node_watch *w)
{
	struct pollfd p = { .fd = node_watch_fd(w), .events = POLLIN };

	return p.fd >= 0 && poll(&p, 1, 0) > 0;
}

static void node_watch_take_line(void *context, const char *text, size_t length)
{
	struct node_watch *w = context;
	bool is_last;

	if (text && !w->err && node_jobs_take(&w->rows, text, length, &is_last) == -ENOMEM)
		w->err = -ENOMEM;
}

static void node_watch_read(struct node_watch *w)
{
	char why[NODE_WATCH_WHY_BYTES];
	int err;

	if (!w->has_answered) {
		if (agent_call_answer(&w->call, why, sizeof(why)))
			node_watch_fail(w, why);
		else
			w->has_answered = true;
		return;
	}
	err = line_stream_read(&w->lines, w->call.stream_fd, node_watch_take_line, w);
	w->has_ended = err != 0;
	w->why[0] = '\0';
	if (!err)
		return;
	snprintf(w->why, sizeof(w->why), "the agent at %s has ended", w->agent);
	node_watch_disconnect(w);
}

int node_watch_step(struct node_watch *w)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), until_ns = now_ns + TURN_NS;

	if (w->agent && !w->has_call && now_ns - w->attempt_ns >= AGAIN_NS)
		node_watch_connect(w);
	while (!w->err && node_watch_has_input(w) && clock_ns(CLOCK_MONOTONIC) < until_ns)
		node_watch_read(w);
	return w->err;
}

void node_watch_done(struct node_watch *w)
{
	node_watch_disconnect(w);
	line_stream_done(&w->lines);
}

const struct list_item *list_selected(const struct list *l)
{
	return l->at < l->nr ? &l->items[l->at] : NULL;
}

static const char *item_key(const struct list_item *item)
{
	const char *key = item->run ? item->run->uuid : item->job->run;

	return key ? key : "";
}

void list_select(struct list *l, size_t at)
{
	const struct list_item *item;

	l->at = at < l->nr ? at : l->nr ? l->nr - 1 : 0;
	item = list_selected(l);
	snprintf(l->selected, sizeof(l->selected), "%s", item ? item_key(item) : "");
}

/* A run of the agent is also in the store of its user. */
static bool job_is_in_stores(const struct list *l, const struct node_job_row *job)
{
	for (size_t i = 0; i < l->runs.nr; i++)
		if (l->runs.runs[i].uuid && !strcmp(l->runs.runs[i].uuid, job->run))
			return true;
	return false;
}

static int items_make_room(struct list *l, size_t nr)
{
	struct list_item *items;

	if (nr <= l->room)
		return 0;
	items = memory_reallocarray(l->items, 2 * nr, sizeof(*items));
	if (!items)
		return -ENOMEM;
	l->items = items;
	l->room = 2 * nr;
	return 0;
}

/* Keeps the selection on the same item. If that is absent, keeps its ID, as it may come later. */
static void list_find_selected(struct list *l)
{
	for (size_t i = 0; l->selected[0] && i < l->nr; i++)
		if (!strcmp(item_key(&l->items[i]), l->selected)) {
			l->at = i;
			return;
		}
	if (l->at >= l->nr)
		l->at = l->nr ? l->nr - 1 : 0;
}

int list_arrange(struct list *l)
{
	struct node_job_rows *jobs = &l->watch.rows;
	int err = items_make_room(l, l->runs.nr + jobs->nr);

	l->nr = l->nr_runs = 0;
	if (err)
		return err;
	node_jobs_sort(jobs, JOBS_BY_CPU);
	for (size_t i = 0; i < l->runs.nr; i++)
		l->items[l->nr++] = (struct list_item){ .run = &l->runs.runs[i] };
	l->nr_runs = l->nr;
	for (size_t i = 0; i < jobs->nr; i++)
		if (!job_is_in_stores(l, &jobs->all[i]))
			l->items[l->nr++] = (struct list_item){ .job = &jobs->all[i] };
	list_find_selected(l);
	return 0;
}

void list_item_label(const struct list_item *item, char *out, size_t size)
{
	const struct node_job_row *job = item->job;
	char id[JOB_ID_BYTES];

	if (!job)
		snprintf(out, size, "%s", item->run->name ? item->run->name : "");
	else if (strcmp(job->id, "run") != 0)
		snprintf(out, size, "%s%s%s", job_id_format(id, sizeof(id), job->id),
			 job->title ? " " : "", job->title ? job->title : "");
	else
		snprintf(out, size, "run%s%s", *job->name ? " " : "", job->name);
}

void list_done(struct list *l)
{
	stored_runs_done(&l->runs);
	node_watch_done(&l->watch);
	free(l->items);
	*l = (struct list){ 0 };
}

/* The screen: runs of stores, then jobs of the node. */

#define NUMBER_COLUMNS 8
#define TIME_COLUMNS 11
#define NAME_COLUMNS 20
#define CORES_COLUMNS 6
#define BYTES_COLUMNS 7
#define COUNT_COLUMNS 6
#define USER_COLUMNS 9
#define GPUS_COLUMNS 18  /* "0.00 of 2, 2 idle" */
#define STALL_COLUMNS 19 /* "stalled 12 min 34 s" */
#define WIDE 100         /* minimum width for all columns of jobs */
#define MEDIUM 70        /* minimum width for the user */

/* Draws a right-aligned cell. Returns the column after it. */
static int cell_draw(struct screen *s, int x, int y, int columns_, enum style style,
		     const char *text)
{
	screen_text_right(s, x, y, columns_, style, text);
	return x + columns_ + 1;
}

static int since_draw(struct screen *s, int x, int y, uint64_t start_epoch_ns,
		      uint64_t now_epoch_ns)
{
	char text[FORMAT_BYTES];

	format_seconds(text, now_epoch_ns > start_epoch_ns ? now_epoch_ns - start_epoch_ns : 0);
	return cell_draw(s, x, y, TIME_COLUMNS, STYLE_GOOD, text) + 1;
}

static void run_draw(struct screen *s, int y, const struct stored_run *r, uint64_t now_epoch_ns)
{
	char text[32];
	int x;

	snprintf(text, sizeof(text), "%" PRId64, r->id);
	x = cell_draw(s, 0, y, NUMBER_COLUMNS, STYLE_PLAIN, text);
	x = since_draw(s, x, y, r->start_epoch_ns, now_epoch_ns);
	screen_text(s, x, y, NAME_COLUMNS, STYLE_BOLD, r->name ? r->name : "");
	x += NAME_COLUMNS + 1;
	screen_text(s, x, y, s->width - x, STYLE_PLAIN, r->command ? r->command : "");
}

static void runs_title_draw(struct screen *s, int y)
{
	int x = cell_draw(s, 0, y, NUMBER_COLUMNS, STYLE_TITLE, "RUN");

	x = cell_draw(s, x, y, TIME_COLUMNS, STYLE_TITLE, "SINCE") + 1;
	screen_text(s, x, y, NAME_COLUMNS, STYLE_TITLE, "NAME");
	x += NAME_COLUMNS + 1;
	screen_text(s, x, y, s->width, STYLE_TITLE, "COMMAND");
	screen_paint(s, 0, y, s->width, STYLE_TITLE);
}

static bool jobs_hold_gpus(const struct list *l)
{
	for (size_t i = l->nr_runs; i < l->nr; i++)
		if (metric_has(&l->items[i].job->have, M_gpus_held) &&
		    l->items[i].job->value[M_gpus_held])
			return true;
	return false;
}

static void jobs_title_draw(struct screen *s, int y, bool has_gpus)
{
	int x = cell_draw(s, 0, y, CORES_COLUMNS, STYLE_TITLE, "CORES");

	x = cell_draw(s, x, y, TIME_COLUMNS, STYLE_TITLE, "SINCE");
	x = cell_draw(s, x, y, BYTES_COLUMNS, STYLE_TITLE, "MEMORY") + 1;
	if (s->width >= WIDE) {
		x = cell_draw(s, x, y, TIME_COLUMNS, STYLE_TITLE, "CPU");
		x = cell_draw(s, x, y, COUNT_COLUMNS, STYLE_TITLE, "PROCS") + 1;
	}
	if (has_gpus && s->width >= MEDIUM)
		x = cell_draw(s, x, y, GPUS_COLUMNS, STYLE_TITLE, "GPUS") + 1;
	if (s->width >= MEDIUM) {
		screen_text(s, x, y, USER_COLUMNS, STYLE_TITLE, "USER");
		x += USER_COLUMNS + 1;
	}
	screen_text(s, x, y, s->width, STYLE_TITLE, "JOB");
	screen_paint(s, 0, y, s->width, STYLE_TITLE);
}

static void job_cell(const struct node_job_row *j, enum metric_id id, char *out, size_t size)
{
	uint64_t n = j->value[id];

	if (!metric_has(&j->have, id))
		snprintf(out, size, "-");
	else if (id == M_cores)
		snprintf(out, size, "%" PRIu64 ".%02u", n / 1000, (unsigned)(n % 1000 / 10));
	else if (id == M_rss)
		bytes_short(out, size, (double)n);
	else if (id == M_cpu)
		format_seconds(out, n);
	else
		snprintf(out, size, "%" PRIu64, n);
}

/* Draws the GPUs of the job. Returns the column after them. */
static int gpus_draw(struct screen *s, int x, int y, const struct node_job_row *j)
{
	const bool is_idle = metric_has(&j->have, M_gpus_idle) && j->value[M_gpus_idle];
	char text[JOB_GPUS_BYTES];

	return cell_draw(s, x, y, GPUS_COLUMNS, is_idle ? STYLE_ALARM : STYLE_PLAIN,
			 job_gpus_format(text, j));
}

static void job_draw(struct screen *s, int y, const struct list_item *item, uint64_t now_epoch_ns,
		     bool has_gpus)
{
	const struct node_job_row *j = item->job;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const int stall_columns = s->width >= MEDIUM ? STALL_COLUMNS : (int)strlen("stalled");
	char text[256], since[FORMAT_BYTES];
	int x;

	job_cell(j, M_cores, text, sizeof(text));
	x = cell_draw(s, 0, y, CORES_COLUMNS,
		      load_style((double)j->value[M_cores] / 1000 / (double)(cpus > 0 ? cpus : 1)),
		      text);
	x = since_draw(s, x, y, j->start_epoch_ns, now_epoch_ns) - 1;
	job_cell(j, M_rss, text, sizeof(text));
	x = cell_draw(s, x, y, BYTES_COLUMNS, STYLE_PLAIN, text) + 1;
	if (s->width >= WIDE) {
		job_cell(j, M_cpu, text, sizeof(text));
		x = cell_draw(s, x, y, TIME_COLUMNS, STYLE_PLAIN, text);
		job_cell(j, M_processes, text, sizeof(text));
		x = cell_draw(s, x, y, COUNT_COLUMNS, STYLE_PLAIN, text) + 1;
	}
	if (has_gpus && s->width >= MEDIUM)
		x = gpus_draw(s, x, y, j) + 1;
	if (s->width >= MEDIUM) {
		screen_text(s, x, y, USER_COLUMNS, STYLE_PLAIN, j->user ? j->user : "-");
		x += USER_COLUMNS + 1;
	}
	list_item_label(item, text, sizeof(text));
	screen_text(s, x, y, s->width - x - (j->stall.is_stalled ? stall_columns + 1 : 0),
		    STYLE_BOLD, text);
	if (!j->stall.is_stalled)
		return;
	format_seconds(since, now_epoch_ns > j->stall.since_epoch_ns
				      ? now_epoch_ns - j->stall.since_epoch_ns
				      : 0);
	snprintf(text, sizeof(text), "stalled %s", since);
	screen_text_right(s, s->width - stall_columns, y, stall_columns, STYLE_ALARM, text);
}

/* The lines of the list: title and runs, title and jobs. */
static size_t list_jobs_title(const struct list *l)
{
	return 1 + (l->nr_runs ? l->nr_runs : 1);
}

static size_t list_lines(const struct list *l)
{
	return list_jobs_title(l) + (l->nr > l->nr_runs ? 1 + l->nr - l->nr_runs : 0);
}

static size_t list_line_of(const struct list *l, size_t item)
{
	return item < l->nr_runs ? 1 + item : list_jobs_title(l) + 1 + item - l->nr_runs;
}

static void list_line_draw(const struct list *l, struct screen *s, int y, size_t line,
			   uint64_t now_epoch_ns)
{
	size_t title = list_jobs_title(l), at;

	if (!line) {
		runs_title_draw(s, y);
	} else if (line == title) {
		jobs_title_draw(s, y, jobs_hold_gpus(l));
	} else if (line < title && !l->nr_runs) {
		screen_text(s, 0, y, s->width, STYLE_DIM,
			    "New runs appear here; start one with: bpfmon -- COMMAND");
	} else {
		at = line < title ? line - 1 : l->nr_runs + line - title - 1;
		if (l->items[at].run)
			run_draw(s, y, l->items[at].run, now_epoch_ns);
		else
			job_draw(s, y, &l->items[at], now_epoch_ns, jobs_hold_gpus(l));
		if (at == l->at)
			screen_paint(s, 0, y, s->width, STYLE_SELECTED);
	}
}

bool list_item_at(const struct list *l, int y, size_t *at)
{
	for (*at = 0; *at < l->nr; ++*at)
		if (y > 0 && list_line_of(l, *at) == l->top + (size_t)y - 1)
			return true;
	return false;
}

/* Scrolls so that the selected item is visible, and the title above the first item. */
static void list_scroll(struct list *l, size_t page)
{
	size_t line = list_line_of(l, l->at), lines = list_lines(l), above = page > 1;

	if (l->top + page > lines)
		l->top = lines > page ? lines - page : 0;
	if (line >= l->top + page)
		l->top = line - page + 1;
	if (line < l->top + above)
		l->top = line - above;
}

void list_draw(struct list *l, struct screen *s, uint64_t now_epoch_ns)
{
	const char *why = l->why[0] ? l->why : l->watch.why;
	size_t page = s->height > 3 ? (size_t)s->height - 3 : 1, jobs = l->nr - l->nr_runs;
	int x;

	screen_clear(s);
	x = screen_printf(s, 0, 0, s->width, STYLE_BOLD, "%zu run%s under way", l->nr_runs,
			  l->nr_runs == 1 ? "" : "s");
	if (jobs)
		screen_printf(s, x, 0, s->width - x, STYLE_BOLD, ", %zu job%s of this node", jobs,
			      jobs == 1 ? "" : "s");
	list_scroll(l, page);
	for (size_t i = 0; i < page && l->top + i < list_lines(l); i++)
		list_line_draw(l, s, 1 + (int)i, l->top + i, now_epoch_ns);
	if (why[0])
		screen_text(s, 0, s->height - 2, s->width, STYLE_ALARM, why);
	screen_text(s, 0, s->height - 1, s->width, STYLE_PLAIN, "q quit  Enter open");
}
