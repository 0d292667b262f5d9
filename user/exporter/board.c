// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/board.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Intervals without a sample after which a run is taken for lost. */
#define SILENT_INTERVALS 10

void board_init(struct board *b, size_t max_series, uint64_t keep_ns)
{
	memset(b, 0, sizeof(*b));
	pthread_mutex_init(&b->lock, NULL);
	name_index_init(&b->runs);
	name_index_init(&b->series);
	name_index_init(&b->users);
	b->max_series = max_series;
	b->keep_ns = keep_ns;
}

static void series_list_done(struct name_index *x, struct series *first)
{
	for (struct series *s = first, *next; s; s = next) {
		next = s->next;
		name_index_remove(x, &s->entry);
		series_release(s);
		free(s);
	}
}

void board_done(struct board *b)
{
	for (struct shown_run *r = b->first, *next; r; r = next) {
		next = r->next;
		board_forget_run(b, r);
	}
	series_list_done(&b->series, b->first_series);
	series_list_done(&b->users, b->first_user);
	pthread_mutex_destroy(&b->lock);
}

static bool run_is_of_node(const struct job_labels *l)
{
	return !strcmp(l->kind, "node");
}

static struct shown_run *board_find_run(const struct board *b, const char *run)
{
	struct name_entry *e = name_index_find(&b->runs, run, strlen(run));

	return e ? (struct shown_run *)((char *)e - offsetof(struct shown_run, entry)) : NULL;
}

void board_forget_run(struct board *b, struct shown_run *r)
{
	if (r->entry.name)
		name_index_remove(&b->runs, &r->entry);
	if (r->previous)
		r->previous->next = r->next;
	else
		b->first = r->next;
	if (r->next)
		r->next->previous = r->previous;
	free(r);
}

static void run_set_state(struct shown_run *r, enum run_state state, uint64_t now_ns)
{
	if (r->state != state)
		r->state_ns = now_ns;
	r->state = state;
	if (state == RUN_LIVE)
		return;
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_GAUGE)
			metric_drop(&r->have, (enum metric_id)i);
}

/* The run has ended, with what is known of it. */
static void run_end(struct board *b, struct shown_run *r, uint64_t now_ns)
{
	run_set_state(r, RUN_ENDED, now_ns);
	if (r->series) {
		if (!--r->series->runs) {
			r->series->ended_ns = now_ns;
			r->series->scrapes = 0;
		}
		board_forget_run(b, r);
		return;
	}
	/* a later run may have the same key */
	name_index_remove(&b->runs, &r->entry);
	b->nr_waiting++;
}

/* Without scrapes the ended runs wait; they are summed when there are too many. */
static void board_make_room(struct board *b)
{
	if (b->nr_waiting > BOARD_WAITING)
		board_decide(b, true);
}

void board_connect(struct board *b, uint64_t now_ns)
{
	b->agent.is_up = true;
	b->connected_ns = now_ns;
	b->counts.streams++;
}

void board_disconnect(struct board *b, uint64_t now_ns)
{
	agent_forget(&b->agent);
	for (struct shown_run *r = b->first; r; r = r->next)
		if (r->state == RUN_LIVE)
			run_set_state(r, RUN_SILENT, now_ns);
}

static void run_hear(struct shown_run *r, uint64_t now_ns)
{
	r->heard_ns = now_ns;
	run_set_state(r, RUN_LIVE, now_ns);
}

static struct shown_run *board_add_run(struct board *b, const struct run_begin *begin)
{
	struct shown_run *r = calloc(1, sizeof(*r));

	if (!r || name_index_add(&b->runs, &r->entry, begin->run, strlen(begin->run))) {
		free(r);
		return NULL;
	}
	r->next = b->first;
	if (b->first)
		b->first->previous = r;
	b->first = r;
	return r;
}

int board_begin_run(struct board *b, const struct run_begin *begin, uint64_t now_ns)
{
	struct shown_run *r = board_find_run(b, begin->run);
	struct series *user = NULL;

	if (r && r->start_epoch_ns == begin->start_epoch_ns) {
		r->is_stalled = false; /* if it still is, that comes next */
		run_hear(r, now_ns);
		return 0;
	}
	if (r)
		run_end(b, r, now_ns);
	board_make_room(b);
	if (b->runs.nr + b->nr_waiting >= BOARD_RUNS) {
		b->counts.runs_refused++;
		return -ENFILE;
	}
	if (!run_is_of_node(&begin->labels) && !(user = board_user(b, &begin->labels)))
		return -ENOMEM;
	r = board_add_run(b, begin);
	if (!r)
		return -ENOMEM;
	r->labels = begin->labels;
	r->start_epoch_ns = begin->start_epoch_ns;
	r->silence_ns = begin->interval_ns < UINT64_MAX / SILENT_INTERVALS
				? begin->interval_ns * SILENT_INTERVALS
				: UINT64_MAX;
	if (r->silence_ns < b->keep_ns)
		r->silence_ns = b->keep_ns;
	r->user = user;
	if (run_is_of_node(&r->labels)) {
		r->series = &b->node;
		r->series->runs++;
	}
	run_hear(r, now_ns);
	return 0;
}

static void run_take_counter(struct shown_run *r, enum metric_id id, uint64_t value)
{
	uint64_t by = value > r->value[id] ? value - r->value[id] : 0;

	r->value[id] += by;
	metric_put(&r->have, id);
	if (r->series)
		series_grow(r->series, id, by);
	if (r->user)
		series_grow(r->user, id, by);
}

static void shown_run_take(struct shown_run *r, const struct sample *s, bool with_gauges)
{
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->kind == KIND_COUNTER) {
			if (sample_has(s, id))
				run_take_counter(r, id, s->value[id]);
			continue;
		}
		metric_drop(&r->have, id);
		if (with_gauges && sample_has(s, id)) {
			r->value[id] = s->value[id];
			metric_put(&r->have, id);
		}
	}
}

int board_sample_run(struct board *b, const char *run, const struct sample *s, uint64_t now_ns)
{
	struct shown_run *r = board_find_run(b, run);

	if (!r)
		return -ENOENT;
	run_hear(r, now_ns);
	shown_run_take(r, s, true);
	return 0;
}

int board_stall_run(struct board *b, const char *run, bool is_stalled)
{
	struct shown_run *r = board_find_run(b, run);

	if (!r)
		return -ENOENT;
	r->is_stalled = is_stalled;
	return 0;
}

int board_end_run(struct board *b, const char *run, const struct sample *total, uint64_t now_ns)
{
	struct shown_run *r = board_find_run(b, run);

	if (!r)
		return -ENOENT;
	shown_run_take(r, total, false);
	run_end(b, r, now_ns);
	board_make_room(b);
	return 0;
}

/* While the stream is down nothing is known: a run ends when it is still silent later. */
static void run_tick(struct board *b, struct shown_run *r, uint64_t now_ns)
{
	uint64_t since_ns = r->state_ns > b->connected_ns ? r->state_ns : b->connected_ns;

	if (r->state == RUN_LIVE && now_ns - r->heard_ns > r->silence_ns)
		run_set_state(r, RUN_SILENT, now_ns);
	else if (r->state == RUN_SILENT && now_ns - since_ns > r->silence_ns)
		run_end(b, r, now_ns);
}

void board_tick(struct board *b, uint64_t now_ns)
{
	struct shown_run *next;

	for (struct shown_run *r = b->first; b->agent.is_up && r; r = next) {
		next = r->next;
		run_tick(b, r, now_ns);
	}
	board_make_room(b);
	board_expire(b, now_ns);
}

static void series_clear_gauges(struct series *s)
{
	s->live = s->stalled = 0;
	for (int i = 0; i < NR_METRICS; i++) {
		if (metric_get((enum metric_id)i)->kind != KIND_GAUGE)
			continue;
		s->value[i] = 0;
		metric_drop(&s->have, (enum metric_id)i);
	}
}

static void run_add_gauges(const struct shown_run *r)
{
	r->series->live += r->state == RUN_LIVE;
	r->series->stalled += r->state == RUN_LIVE && r->is_stalled;
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_GAUGE &&
		    metric_has(&r->have, (enum metric_id)i))
			series_grow(r->series, (enum metric_id)i, r->value[i]);
}

int board_prepare(struct board *b, uint64_t now_ns)
{
	int err;

	board_tick(b, now_ns);
	err = board_decide(b, false);
	series_clear_gauges(&b->node);
	for (struct series *s = b->first_series; s; s = s->next)
		series_clear_gauges(s);
	for (struct shown_run *r = b->first; r; r = r->next)
		if (r->series)
			run_add_gauges(r);
	return err;
}

void board_count_scrape(struct board *b)
{
	for (struct series *s = b->first_series; s; s = s->next)
		if (!s->runs && s->scrapes < BOARD_SCRAPES)
			s->scrapes++;
}
