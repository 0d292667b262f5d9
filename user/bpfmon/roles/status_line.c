// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/roles.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/patience.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/message.h"
#include "base/log.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/roles/observer.h"
#include "bpfmon/roles/recorder.h"
#include "text/answer.h"
#include "text/live_text.h"
#include "text/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LEAST_COLUMNS 20
#define LONGEST_TEXT 1024             /* in bytes */
#define REST_NS (200 * NSEC_PER_MSEC) /* to complete a partially written line */
#define LINE_CLEAR "\r\x1b[0m\x1b[2K"

/* Writes to the terminal of stderr, all or nothing. Returns false if it would block. */
static bool terminal_write(const char *text, size_t n)
{
	struct patience p = { .watched_fd = -1, .limit_ns = REST_NS };
	struct pollfd f = { .fd = STDERR_FILENO, .events = POLLOUT };
	size_t done;

	if (poll(&f, 1, 0) != 1 || !(f.revents & POLLOUT))
		return false; /* stopped by Ctrl-S, or not read */
	return !patience_write(&p, STDERR_FILENO, text, n, &done);
}

/* Returns how many bytes of @text fit into @columns. */
static int text_fit(const char *text, size_t columns)
{
	size_t at = 0, used = 0, n, width;
	bool is_control;
	uint32_t c;

	for (; text[at]; at += n, used += width) {
		n = text_character_bytes(text + at, &is_control);
		width = !is_control && utf8_decode(text + at, n, &c) ? character_width(c) : 1;
		if (is_control || used + width > columns || at + n > LONGEST_TEXT)
			break;
	}
	return (int)at;
}

/* Returns why stderr cannot show a status line, or NULL if it can. */
static const char *status_line_refusal(void)
{
	const char *kind = getenv("TERM");
	int flags = fcntl(STDERR_FILENO, F_GETFL);

	if (!isatty(STDERR_FILENO))
		return "stderr is not a terminal";
	if (!kind || !*kind || !strcmp(kind, "dumb"))
		return "the terminal (TERM) cannot clear lines";
	if (flags < 0 || !(flags & O_NONBLOCK))
		return "stderr cannot be reopened";
	return flock(STDERR_FILENO, LOCK_EX | LOCK_NB) ? "another bpfmon shows one on this terminal"
						       : NULL;
}

bool status_line_open(struct status_line *s)
{
	const char *why = status_line_refusal();

	s->fd = -1;
	s->is_drawn = false;
	s->is_inverse = !why && terminal_has_colour(stderr);
	if (why)
		log_info("showing no status line: %s", why);
	return !why;
}

/* Notifies the recorder, which clears the line if the launcher is killed. */
static void status_line_set_drawn(struct status_line *s, bool is_drawn)
{
	if (s->is_drawn != is_drawn && s->fd >= 0)
		control_send(s->fd, CONTROL_LIVE, is_drawn, 0, NULL);
	s->is_drawn = is_drawn;
	progress_set_shown(is_drawn);
}

void status_line_release(struct status_line *s)
{
	if (s->is_drawn)
		terminal_write(LINE_CLEAR, strlen(LINE_CLEAR));
	status_line_set_drawn(s, false);
}

static void status_line_draw(struct status_line *s)
{
	size_t columns = terminal_limit(stderr);
	char out[LONGEST_TEXT + 64];
	int n;

	if (columns && columns < LEAST_COLUMNS) {
		status_line_release(s);
		return;
	}
	n = snprintf(out, sizeof(out), LINE_CLEAR "%s%.*s\x1b[0m", s->is_inverse ? "\x1b[7m" : "",
		     text_fit(s->last.text, columns ? columns - 1 : LONGEST_TEXT), s->last.text);
	if (terminal_write(out, (size_t)n))
		status_line_set_drawn(s, true);
}

/* Returns true if a text has come; keeps the last one. */
static bool status_line_receive(struct status_line *s)
{
	struct pollfd f = { .fd = s->fd, .events = POLLIN };
	bool has_come = false;

	while (s->fd >= 0 && poll(&f, 1, 0) == 1) {
		if (control_receive(s->fd, &s->last) != 1) { /* the recorder has ended */
			s->fd = f.fd = -1;
			*s->last.text = '\0';
		}
		has_come = true;
	}
	return has_come;
}

void status_line_advance(struct status_line *s)
{
	if (!status_line_receive(s))
		return;
	if (!*s->last.text || !signals_have_terminal())
		status_line_release(s);
	else
		status_line_draw(s);
}

/* State of the status line in the recorder. */

struct live_display {
	int control_fd; /* to the launcher, not owned */
	bool is_utf8;
	char *phase;        /* owned; the last mark */
	bool has_last;      /* last_s and last are valid */
	uint64_t last_s;    /* whole seconds at the last line */
	struct sample last; /* sample of the last line, without instances */
	struct live_view view;
};

static const char *status_target(const struct recorder_options *options)
{
	return options->live ? "the status line" : NULL;
}

static int status_open(struct observer *o, const struct recorder_options *options)
{
	struct live_display *l = o->own;

	l->control_fd = options->control_fd;
	l->is_utf8 = terminal_is_utf8();
	return 0;
}

static uint64_t live_grown(const struct live_display *l, const struct sample *now,
			   enum metric_id id)
{
	uint64_t before = l->has_last && sample_has(&l->last, id) ? l->last.value[id] : 0;

	return now->value[id] > before ? now->value[id] - before : 0;
}

/* Rates are since the last line, because a sample may be of 10 ms. */
static void live_set_rates(struct live_display *l, const struct sample *now)
{
	uint64_t since_ns = l->has_last ? l->last.elapsed_ns : 0;
	double seconds = (double)(now->elapsed_ns - since_ns) / 1e9;
	struct live_view *v = &l->view;

	if (now->elapsed_ns <= since_ns)
		return;
	v->has_cores = sample_has(now, M_cpu);
	v->cores = (uint64_t)((double)live_grown(l, now, M_cpu) / 1e6 / seconds);
	v->has_io = sample_has(now, M_read) && sample_has(now, M_write);
	v->io_bytes_a_second =
		(uint64_t)((double)(live_grown(l, now, M_read) + live_grown(l, now, M_write)) /
			   seconds);
}

/* A stopped launcher receives none, and needs none. */
static void live_send(const struct live_display *l)
{
	size_t columns = terminal_limit(stderr);
	char text[LIVE_TEXT_BYTES];

	live_text(text, &l->view, columns ? columns - 1 : LIVE_TEXT_BYTES, l->is_utf8);
	control_send(l->control_fd, CONTROL_LIVE, 0, 0, text);
}

static void live_take_sample(struct live_display *l, const struct sample *now)
{
	const uint64_t seconds = now->elapsed_ns / NSEC_PER_SEC;
	struct live_view *v = &l->view;

	v->elapsed_ns = now->elapsed_ns;
	v->has_memory = sample_has(now, M_rss);
	v->memory_bytes = now->value[M_rss];
	if (v->has_memory && v->peak_bytes < v->memory_bytes)
		v->peak_bytes = v->memory_bytes;
	v->has_processes = sample_has(now, M_processes);
	v->processes = now->value[M_processes];
	if (seconds <= l->last_s)
		return;
	live_set_rates(l, now);
	live_send(l);
	l->has_last = true;
	l->last_s = seconds;
	l->last = *now;
	l->last.instances = NULL;
	l->last.nr_instances = 0;
}

static void live_take_event(struct live_display *l, const struct line *line)
{
	const char *event = line_get_event(line);
	uint64_t elapsed_ns;
	const char *mark;
	size_t bytes;

	mark = line_get_mark(line, &bytes, &elapsed_ns);
	if (mark) {
		free(l->phase);
		l->phase = memory_strndup(mark, bytes);
		l->view.phase = l->phase;
	} else if (event && (!strcmp(event, "stalled") || !strcmp(event, "resumed"))) {
		l->view.is_stalled = *event == 's';
		if (l->has_last)
			live_send(l);
	}
}

static int status_line_take(struct observer *o, const struct line *line, const char *text,
			    size_t length)
{
	struct live_display *l = o->own;

	(void)text, (void)length;
	if (line->kind == LINE_META)
		l->view.cores_available = answer_cores_available(line->tree);
	else if (line->kind == LINE_SAMPLE)
		live_take_sample(l, &line->sample);
	else if (line->kind == LINE_EVENT)
		live_take_event(l, line);
	return 0;
}

/* Clears the line for the summary, which comes next. */
static int status_end(struct observer *o, struct summary *total)
{
	struct live_display *l = o->own;

	(void)total;
	control_send(l->control_fd, CONTROL_LIVE, 0, 0, "");
	return 0;
}

/* Returns true if the launcher is gone and has left a line. */
static bool live_is_orphaned(int control_fd)
{
	struct pollfd f = { .fd = control_fd, .events = POLLIN };
	bool is_drawn = false;
	struct control c;

	while (poll(&f, 1, 0) == 1 && f.revents & POLLIN && control_receive(control_fd, &c) == 1)
		if (c.type == CONTROL_LIVE)
			is_drawn = c.value;
	return f.revents & (POLLHUP | POLLERR) && is_drawn;
}

static int status_close(struct observer *o)
{
	struct live_display *l = o->own;

	free(l->phase);
	if (live_is_orphaned(l->control_fd))
		terminal_write(LINE_CLEAR, strlen(LINE_CLEAR));
	return 0;
}

const struct observer_ops live_observer = {
	.name = "live",
	.own_bytes = sizeof(struct live_display),
	.target = status_target,
	.open = status_open,
	.line = status_line_take,
	.end = status_end,
	.close = status_close,
};
