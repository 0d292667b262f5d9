// SPDX-License-Identifier: BSD-2-Clause
#include "top/session.h"

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/memory.h"
#include "top/saved.h"
#include "text/terminal.h"
#include "top/top_list.h"
#include "top/top_stream.h"
#include "store/database_open.h"
#include "top/view.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* State shared by the loops of the list and of one run. */

struct session {
	struct model model;
	struct view view;
	struct stream stream;
	struct screen screen;
	struct saved saved;      /* what the user chose in this or an earlier session */
	struct node_watch watch; /* the jobs of the agent, while one of them is shown */
	const char *store;       /* of the run that is shown */
	int64_t run;
	char job[512];         /* job of the agent that is shown, or "" */
	char live_socket[128]; /* of a run that is shown but in no store, or "" */
	char label[256];       /* title of that run or job */
	char chosen[80];       /* last selection in the list */
	char note[1024];       /* for the list: why the choice could not be shown */
	bool is_running, is_of_list, goes_back;
	int keys_fd, signals_fd;
	int signal; /* that ends the session */
	bool is_over, needs_drawing, has_resized, was_read;
	bool is_for_key;                       /* the screen to be drawn answers a key */
	uint64_t dirty_since_ns;               /* 0 if nothing has changed */
	uint64_t version;                      /* of the model that was drawn */
	char name[256], why[STREAM_WHY_BYTES]; /* for an error */
};

#define SETTLE_NS (60 * NSEC_PER_MSEC) /* lines that arrive together are drawn together */
#define SETTLE_LOADING_NS (250 * NSEC_PER_MSEC)
#define REFRESH_MS 1000 /* refresh interval of waits and of the list of runs */
#define GROWTH_MS 200   /* interval of reads of a file */

static int session_fit_screen(struct session *s)
{
	int width, height;

	curses_size(&width, &height);
	if (s->screen.width == width && s->screen.height == height)
		return 0;
	return screen_resize(&s->screen, width, height);
}

static void session_read_signals(struct session *s)
{
	struct signalfd_siginfo si;

	if (read(s->signals_fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		s->signal = (int)si.ssi_signo;
		s->is_over = true;
	}
}

static int runs_read(struct list *l, const struct top_options *o)
{
	const struct run_filter filter = { .state = ONLY_RUNNING };
	int err = 0;

	stored_runs_done(&l->runs);
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
	return list_arrange(l);
}

static bool list_open(struct session *s, const struct list_item *item)
{
	if (!item || item->run || strcmp(item->job->id, "run") != 0 || item->job->live_socket)
		return item != NULL;
	snprintf(s->note, sizeof(s->note), "this run has no live feed");
	return false;
}

/* A click on an item selects it, another one opens it. */
static bool list_click(struct session *s, struct list *l)
{
	int x, y;
	size_t at, before = l->at;

	curses_mouse(&x, &y);
	if (!list_item_at(l, y, &at))
		return false;
	list_select(l, at);
	return at == before && list_open(s, list_selected(l));
}

/* Returns true if an item is chosen. */
static bool list_key(struct session *s, struct list *l, int key)
{
	size_t page = s->screen.height > 6 ? (size_t)s->screen.height - 6 : 1;

	if (key == KEY_OF_RESIZE) {
		s->has_resized = true;
		return false;
	}
	s->note[0] = '\0';
	if (key == 'q')
		s->is_over = true;
	else if ((key == KEY_OF_UP || key == 'k') && l->at)
		list_select(l, l->at - 1);
	else if (key == KEY_OF_DOWN || key == 'j')
		list_select(l, l->at + 1);
	else if (key == KEY_OF_PAGE_UP)
		list_select(l, l->at > page ? l->at - page : 0);
	else if (key == KEY_OF_PAGE_DOWN)
		list_select(l, l->at + page);
	else if (key == KEY_OF_HOME || key == 'g')
		list_select(l, 0);
	else if (key == KEY_OF_END || key == 'G')
		list_select(l, SIZE_MAX);
	else if (key == KEY_OF_WHEEL_UP)
		list_select(l, l->at > WHEEL_ROWS ? l->at - WHEEL_ROWS : 0);
	else if (key == KEY_OF_WHEEL_DOWN)
		list_select(l, l->at + WHEEL_ROWS);
	else if (key == KEY_OF_CLICK)
		return list_click(s, l);
	else if (key == KEY_OF_ENTER)
		return list_open(s, list_selected(l));
	return false;
}

static int list_show(struct session *s, struct list *l)
{
	int err = session_fit_screen(s);

	if (err)
		return err;
	if (s->note[0])
		snprintf(l->why, sizeof(l->why), "%s", s->note);
	list_draw(l, &s->screen, clock_ns(CLOCK_REALTIME));
	curses_show(&s->screen, s->has_resized);
	s->has_resized = false;
	l->why[0] = '\0';
	return 0;
}

/* Waits for a key or the agent until the runs must be read again. */
static int list_wait(struct session *s, struct list *l, uint64_t *read_ns,
		     const struct top_options *o)
{
	uint64_t passed_ns = clock_ns(CLOCK_MONOTONIC) - *read_ns;
	int64_t left_ms = REFRESH_MS - (int64_t)(passed_ns / NSEC_PER_MSEC);
	struct pollfd fds[] = { { .fd = s->keys_fd, .events = POLLIN },
				{ .fd = s->signals_fd, .events = POLLIN },
				{ .fd = node_watch_fd(&l->watch), .events = POLLIN } };
	int err;

	if (poll(fds, 3, left_ms > 0 ? (int)left_ms : 0) > 0 && fds[2].revents && !fds[0].revents &&
	    !fds[1].revents)
		poll(fds, 2, (int)(SETTLE_NS / NSEC_PER_MSEC));
	if (fds[0].revents & (POLLHUP | POLLERR))
		s->is_over = true;
	session_read_signals(s);
	err = node_watch_step(&l->watch);
	if (err || clock_ns(CLOCK_MONOTONIC) - *read_ns < REFRESH_MS * NSEC_PER_MSEC)
		return err ? err : list_arrange(l);
	*read_ns = clock_ns(CLOCK_MONOTONIC);
	return runs_read(l, o);
}

static void session_take_choice(struct session *s, const struct list_item *item,
				const struct top_options *o)
{
	const struct node_job_row *job = item->job;

	s->job[0] = s->live_socket[0] = s->label[0] = '\0';
	s->is_running = true;
	if (!job) {
		s->store = o->stores[item->run->source];
		s->run = item->run->id;
		return;
	}
	list_item_label(item, s->label, sizeof(s->label));
	if (strcmp(job->id, "run") != 0)
		snprintf(s->job, sizeof(s->job), "%s", job->id);
	else /* a run is no job of the agent: read its own feed */
		snprintf(s->live_socket, sizeof(s->live_socket), "%s", job->live_socket);
}

/* Shows the list until an item is chosen, or the session is over. */
static int session_choose_run(struct session *s, const struct top_options *o)
{
	uint64_t read_ns = clock_ns(CLOCK_MONOTONIC);
	struct list l = { 0 };
	bool is_chosen = false;
	int err, key;

	snprintf(l.selected, sizeof(l.selected), "%s", s->chosen);
	node_watch_begin(&l.watch, o->agent);
	err = runs_read(&l, o);
	s->has_resized = true;
	while (!err && !s->is_over && !is_chosen) {
		err = list_show(s, &l);
		if (!err)
			err = list_wait(s, &l, &read_ns, o);
		while (!err && !s->is_over && !is_chosen && (key = curses_key()))
			is_chosen = list_key(s, &l, key);
	}
	if (!err && is_chosen)
		session_take_choice(s, list_selected(&l), o);
	snprintf(s->chosen, sizeof(s->chosen), "%s", l.selected);
	list_done(&l);
	return err;
}

static bool model_is_of_this_host(const struct model *m)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return !strcmp(host, m->host);
}

static void session_describe(struct session *s)
{
	struct view *v = &s->view;
	const struct stream *in = &s->stream;
	bool is_over = in->has_ended || in->is_stale;

	v->is_here = s->model.has_meta && !is_over && model_is_of_this_host(&s->model);
	v->state[0] = '\0';
	v->is_alarm = false;
	if (in->is_connecting) {
		snprintf(v->state, sizeof(v->state), "waiting for the agent");
	} else if (!s->was_read && !in->has_ended) {
		snprintf(v->state, sizeof(v->state), "reading");
		if (in->is_file && in->size)
			snprintf(v->state, sizeof(v->state), "reading, %d %%",
				 (int)(100 * in->at / in->size));
	} else if (!s->model.has_summary && is_over) {
		snprintf(v->state, sizeof(v->state), "%.*s", (int)sizeof(v->state) - 1,
			 in->note[0]     ? in->note
			 : in->has_ended ? "its end was not recorded"
					 : "no more data");
		v->is_alarm = true;
	}
}

static int session_draw(struct session *s)
{
	int err = session_fit_screen(s);

	session_describe(s);
	s->view.waiting.is_deferred = s->is_for_key;
	if (!err)
		err = view_draw(&s->view, &s->screen);
	if (err)
		return err;
	curses_show(&s->screen, s->has_resized);
	/* keys are answered with known data; another draw adds what processes wait for */
	s->needs_drawing = s->is_for_key && s->view.waiting.is_incomplete;
	s->has_resized = s->is_for_key = false;
	s->dirty_since_ns = 0;
	s->version = s->model.version;
	return 0;
}

static void session_read_keys(struct session *s)
{
	enum view_result result;
	int key;

	while (!s->is_over && !s->goes_back && (key = curses_key())) {
		s->needs_drawing = s->is_for_key = true;
		if (key == KEY_OF_RESIZE) {
			s->has_resized = true;
			continue;
		}
		curses_mouse(&s->view.mouse_x, &s->view.mouse_y);
		result = view_key(&s->view, key);
		s->is_over = result == VIEW_QUITS;
		if (result == VIEW_GOES_BACK)
			s->goes_back = true;
	}
}

/* Returns 1 if there is more to read at once, 0, or a negative errno. */
static int session_read_stream(struct session *s)
{
	bool was_over = s->stream.has_ended || s->stream.is_stale;
	int more;

	if (s->stream.has_ended)
		return 0;
	more = stream_read(&s->stream);
	if (more < 0) {
		snprintf(s->why, sizeof(s->why), "%s", s->stream.why);
		return more;
	}
	if (!more && !s->was_read && !s->stream.is_connecting) {
		s->was_read = s->needs_drawing = true;
		if (s->model.has_summary)
			view_show_last_live(&s->view);
	}
	if (was_over != (s->stream.has_ended || s->stream.is_stale))
		s->needs_drawing = true;
	if (s->model.version != s->version && !s->dirty_since_ns)
		s->dirty_since_ns = clock_ns(CLOCK_MONOTONIC);
	return more;
}

/* Returns the timeout of the next poll(), in ms. */
static int session_timeout_ms(const struct session *s, int more)
{
	uint64_t settle_ns = s->was_read ? SETTLE_NS : SETTLE_LOADING_NS, passed_ns;

	if (more || s->needs_drawing)
		return 0;
	if (s->dirty_since_ns) {
		passed_ns = clock_ns(CLOCK_MONOTONIC) - s->dirty_since_ns;
		return passed_ns < settle_ns ? (int)((settle_ns - passed_ns) / NSEC_PER_MSEC) + 1
					     : 0;
	}
	return s->stream.is_file && !s->stream.has_ended ? GROWTH_MS : REFRESH_MS;
}

static bool session_has_settled(const struct session *s)
{
	uint64_t settle_ns = s->was_read ? SETTLE_NS : SETTLE_LOADING_NS;

	return s->dirty_since_ns && clock_ns(CLOCK_MONOTONIC) - s->dirty_since_ns >= settle_ns;
}

static int session_step(struct session *s)
{
	bool waits_for_stream = !s->stream.is_file && !s->stream.has_ended;
	struct pollfd fds[] = {
		{ .fd = s->keys_fd, .events = POLLIN },
		{ .fd = s->signals_fd, .events = POLLIN },
		{ .fd = node_watch_fd(&s->watch), .events = POLLIN },
		{ .fd = waits_for_stream ? stream_fd(&s->stream) : -1, .events = POLLIN },
	};
	int more = session_read_stream(s), n;

	if (more < 0)
		return more;
	if (s->needs_drawing || session_has_settled(s)) {
		int err = session_draw(s);

		if (err)
			return err;
	}
	n = poll(fds, 4, session_timeout_ms(s, more));
	if (node_watch_step(&s->watch))
		return -ENOMEM;
	if (n < 0 && errno != EINTR)
		return -errno;
	if (!n && !more && !s->dirty_since_ns)
		s->needs_drawing = s->view.is_here || s->view.mode == VIEW_TASK;
	if (fds[0].revents & (POLLHUP | POLLERR))
		s->is_over = true; /* the terminal is gone */
	session_read_signals(s);
	session_read_keys(s);
	return 0;
}

static int session_loop(struct session *s)
{
	int err = 0;

	s->needs_drawing = s->has_resized = true;
	while (!err && !s->is_over && !s->goes_back)
		err = session_step(s);
	return err;
}

static int session_open_source(struct session *s, const struct top_options *o)
{
	const char *label = s->label[0] ? s->label : o->label ? o->label : o->file ? o->file : "";
	int err;

	model_init(&s->model);
	view_init(&s->view, &s->model, &s->saved);
	s->was_read = s->goes_back = false;
	s->why[0] = '\0';
	snprintf(s->view.source, sizeof(s->view.source), "%s", label);
	s->view.can_go_back = s->is_of_list;
	s->view.pid_to_select = o->pid;
	s->view.is_of_node = !strcmp(s->job, "node") || !strcmp(s->job, "other");
	s->view.jobs = s->job[0] ? &s->watch.rows : NULL;
	node_watch_begin(&s->watch, s->job[0] ? o->agent : NULL);
	if (o->file)
		return stream_open_file(&s->stream, &s->model, o->file);
	if (s->job[0])
		return stream_open_job(&s->stream, &s->model, o->agent, s->job);
	if (s->live_socket[0])
		return stream_open_live(&s->stream, &s->model, s->live_socket);
	err = stream_open_stored(&s->stream, &s->model, s->store, s->run, s->is_running);
	if (!err && s->stream.has_ended && s->model.has_summary)
		view_show_last_live(&s->view);
	return err;
}

static void session_close_source(struct session *s)
{
	view_save(&s->view, &s->saved);
	node_watch_done(&s->watch);
	view_done(&s->view);
	stream_done(&s->stream);
	model_done(&s->model);
}

static int session_show_source(struct session *s, const struct top_options *o)
{
	int err = session_open_source(s, o);

	if (err)
		snprintf(s->why, sizeof(s->why), "%s", s->stream.why);
	else
		err = session_loop(s);
	if (err)
		snprintf(s->name, sizeof(s->name), "%s", s->view.source);
	session_close_source(s);
	return err;
}

/* Alternates between the list and the chosen run. */
static int session_show_list(struct session *s, const struct top_options *o)
{
	int err = 0;

	s->is_of_list = true;
	while (!err && !s->is_over) {
		err = session_choose_run(s, o);
		if (!err && !s->is_over)
			err = session_show_source(s, o);
		if (err && err != -ENOMEM && s->why[0]) { /* it may have ended meanwhile */
			snprintf(s->note, sizeof(s->note), "%s%s%s", s->name,
				 s->name[0] ? ": " : "", s->why);
			s->why[0] = s->name[0] = '\0';
			err = 0;
		}
	}
	return err;
}

/*
 * Keys come from stdin, unless it is no terminal or lines are read from it. Opened again, the
 * terminal can be non-blocking here alone: ncurses reads on after an event of the mouse that it
 * does not know.
 */
static int session_open_keys(const struct top_options *o)
{
	const int how = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	bool is_taken = o->file && !strcmp(o->file, "-");
	const char *name = is_taken ? NULL : ttyname(STDIN_FILENO);
	int fd = open(name ? name : "/dev/tty", how);

	if (fd < 0 && name) /* the terminal may be another user's */
		fd = dup(STDIN_FILENO);
	return fd < 0 ? -errno : fd;
}

static int session_show(struct session *s, const struct top_options *o)
{
	int err = curses_open(s->keys_fd, s->why, sizeof(s->why));
	struct saved before;

	saved_init(&s->saved);
	saved_read(&s->saved);
	before = s->saved;
	s->screen.is_utf8 = terminal_is_utf8();
	s->store = o->stores[0];
	s->run = o->run;
	s->is_running = o->is_running;
	snprintf(s->job, sizeof(s->job), "%s", o->job ? o->job : "");
	if (!err)
		err = o->file || o->run || o->job ? session_show_source(s, o)
						  : session_show_list(s, o);
	curses_close();
	if (!saved_is(&s->saved, &before))
		saved_write(&s->saved);
	if (err)
		log_error("%s%s%s", s->name, s->name[0] ? ": " : "",
			  s->why[0] ? s->why : strerror(-err));
	return err;
}

int session_run(const struct top_options *o)
{
	struct session *s = memory_calloc(1, sizeof(*s));
	int err, by_signal;

	if (!s || !isatty(STDOUT_FILENO)) {
		log_error(s ? "top needs a terminal, but stdout is not one; try 'bpfmon show'"
			    : "out of memory");
		free(s);
		return EXIT_USAGE;
	}
	s->keys_fd = session_open_keys(o);
	s->signals_fd = signals_take(true);
	err = s->keys_fd < 0 ? s->keys_fd : s->signals_fd < 0 ? s->signals_fd : 0;
	if (err)
		log_error("cannot open the terminal to read keys: %s", strerror(-err));
	else
		err = session_show(s, o);
	by_signal = s->signal;
	screen_done(&s->screen);
	free(s);
	return err ? EXIT_USAGE : by_signal ? 128 + by_signal : 0;
}
