// SPDX-License-Identifier: BSD-2-Clause
/* The list of the runs that go on and of the jobs of the node: what keys do in it. */
#include "top/session_parts.h"

#include "base/clock.h"
#include "top/curses.h"
#include "top/top_list.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define REFRESH_MS 1000
#define SETTLE_MS 60 /* lines that come together are drawn together */

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

/* True: one is chosen. */
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

/* Waits for a key, and for what the agent sends, until the runs are to be read again. */
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
		poll(fds, 2, SETTLE_MS);
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
	else /* a run is no job of the agent: its own feed has it */
		snprintf(s->live_socket, sizeof(s->live_socket), "%s", job->live_socket);
}

int session_choose_run(struct session *s, const struct top_options *o)
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
