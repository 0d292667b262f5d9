// SPDX-License-Identifier: BSD-2-Clause
#include "board/board.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Intervals without a sample after which a run is silent. */
#define SILENT_INTERVALS 10
/* The agent is not up after so long without a line, if its interval is unknown or shorter. */
#define SILENCE_UNKNOWN_NS (60 * NSEC_PER_SEC)
#define SILENCE_LEAST_NS (3 * NSEC_PER_SEC)

void board_init(struct board *b, const struct board_style *style, size_t max_series,
		uint64_t keep_ns)
{
	memset(b, 0, sizeof(*b));
	pthread_mutex_init(&b->lock, NULL);
	name_index_init(&b->runs);
	name_index_init(&b->series.index);
	name_index_init(&b->users.index);
	ended_init(&b->ended, max_series, &b->counts.ended_dropped);
	b->style = style;
	b->max_series = max_series;
	b->node.is_own = true;
	b->keep_ns = keep_ns;
}

void board_done(struct board *b)
{
	for (struct shown_run *r = b->first, *next; r; r = next) {
		next = r->next;
		board_remove_run(b, r);
	}
	series_list_done(&b->series);
	series_list_done(&b->users);
	ended_done(&b->ended);
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

static void run_end(struct board *b, struct shown_run *r, uint64_t now_ns)
{
	run_set_state(r, RUN_ENDED, now_ns);
	if (r->series) {
		series_end_run(r->series, r, now_ns);
		board_remove_run(b, r);
		return;
	}
	/* the key may be reused */
	name_index_remove(&b->runs, &r->entry);
	b->nr_waiting++;
}

/* Without scrapes ended runs accumulate: sums them when there are too many. */
static void board_make_room(struct board *b)
{
	if (b->nr_waiting > BOARD_WAITING)
		board_assign_ended(b);
}

void board_connect(struct board *b, uint64_t now_ns)
{
	if (!b->began_epoch_ns)
		b->began_epoch_ns = clock_ns(CLOCK_REALTIME);
	b->is_open = b->agent.is_up = true;
	b->connected_ns = b->last_line_ns = now_ns;
	b->counts.streams++;
}

static void board_lose_agent(struct board *b, uint64_t now_ns)
{
	b->agent = (struct agent_state){ 0 };
	for (struct shown_run *r = b->first; r; r = r->next)
		if (r->state == RUN_LIVE)
			run_set_state(r, RUN_SILENT, now_ns);
}

void board_disconnect(struct board *b, uint64_t now_ns)
{
	b->is_open = false;
	board_lose_agent(b, now_ns);
}

void board_note_line(struct board *b, uint64_t now_ns)
{
	b->last_line_ns = now_ns;
	b->last_line_epoch_ns = clock_ns(CLOCK_REALTIME);
	if (b->agent.is_up || !b->is_open)
		return;
	b->agent.is_up = true;
	b->connected_ns = now_ns;
}

static uint64_t agent_silence_ns(const struct board *b)
{
	uint64_t ns = b->interval_ns * BOARD_SILENT_INTERVALS;

	if (!b->interval_ns)
		return SILENCE_UNKNOWN_NS;
	return ns < SILENCE_LEAST_NS ? SILENCE_LEAST_NS : ns;
}

static void run_note_line(struct shown_run *r, uint64_t now_ns)
{
	r->last_line_ns = now_ns;
	run_set_state(r, RUN_LIVE, now_ns);
}

static struct shown_run *board_add_run(struct board *b, const struct run_begin *begin)
{
	struct shown_run *r = memory_calloc(1, sizeof(*r));

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
		r->is_stalled = false; /* if it is still stalled, the next line says so */
		r->bounds = begin->bounds;
		if (!r->series || !r->series->is_own)
			r->labels = begin->labels;
		run_note_line(r, now_ns);
		return 0;
	}
	if (r)
		run_end(b, r, now_ns);
	board_make_room(b);
	if (b->runs.nr + b->nr_waiting >= BOARD_RUNS) {
		b->counts.runs_refused++;
		return -ENFILE;
	}
	if (!run_is_of_node(&begin->labels)) {
		user = board_user(b, &begin->labels, begin->start_epoch_ns);
		if (!user)
			return -ENOMEM;
	}
	r = board_add_run(b, begin);
	if (!r)
		return -ENOMEM;
	r->labels = begin->labels;
	r->start_epoch_ns = begin->start_epoch_ns;
	r->bounds = begin->bounds;
	if (begin->interval_ns && begin->interval_ns < UINT64_MAX / BOARD_SILENT_INTERVALS)
		b->interval_ns = begin->interval_ns;
	r->silence_ns = begin->interval_ns < UINT64_MAX / SILENT_INTERVALS
				? begin->interval_ns * SILENT_INTERVALS
				: UINT64_MAX;
	if (r->silence_ns < b->keep_ns)
		r->silence_ns = b->keep_ns;
	r->user = user;
	if (run_is_of_node(&r->labels)) {
		r->series = &b->node;
		r->series->runs++;
		if (!b->node.began_epoch_ns)
			b->node.began_epoch_ns = r->start_epoch_ns;
	}
	run_note_line(r, now_ns);
	return 0;
}

static void run_update_counter(struct shown_run *r, enum metric_id id, uint64_t value)
{
	uint64_t by = value > r->value[id] ? value - r->value[id] : 0;

	r->value[id] += by;
	metric_put(&r->have, id);
	if (r->series)
		series_grow(r->series, id, by);
	if (r->user)
		series_grow(r->user, id, by);
}

static void shown_run_update(struct shown_run *r, const struct sample *s, bool with_gauges)
{
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metric_get(id)->kind == KIND_COUNTER) {
			if (sample_has(s, id))
				run_update_counter(r, id, s->value[id]);
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
	run_note_line(r, now_ns);
	r->age_ns = s->elapsed_ns;
	shown_run_update(r, s, true);
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

static int board_keep_ended(struct board *b, const struct shown_run *r,
			    const struct ended_values *ended, uint64_t now_ns)
{
	const struct board_style *style = b->style;
	struct buffer labels = { 0 };

	if (style->end_job)
		return style->end_job(style->context, &r->labels, ended, r->end_epoch_ns);
	style->put_labels(&labels, &r->labels);
	return ended_add(&b->ended, &labels, ended, now_ns);
}

int board_end_run(struct board *b, const char *run, const struct sample *total,
		  const struct ended_values *values, uint64_t now_ns)
{
	struct shown_run *r = board_find_run(b, run);
	struct ended_values ended = *values;
	int err = 0;

	if (!r)
		return -ENOENT;
	shown_run_update(r, total, false);
	r->end_epoch_ns = r->start_epoch_ns + values->value[ENDED_wall_seconds];
	if (!run_is_of_node(&r->labels) && !run_is_rest(r)) {
		ended_complete(&ended, r->start_epoch_ns, r->bounds.memory_max_bytes);
		err = board_keep_ended(b, r, &ended, now_ns);
	}
	run_end(b, r, now_ns);
	board_make_room(b);
	return err;
}

/*
 * The state of runs is unknown while the stream is down: a run ends if it is still silent some time
 * later.
 */
static void run_tick(struct board *b, struct shown_run *r, uint64_t now_ns)
{
	uint64_t since_ns = r->state_ns > b->connected_ns ? r->state_ns : b->connected_ns;

	if (r->state == RUN_LIVE && now_ns - r->last_line_ns > r->silence_ns)
		run_set_state(r, RUN_SILENT, now_ns);
	else if (r->state == RUN_SILENT && now_ns - since_ns > r->silence_ns)
		run_end(b, r, now_ns);
}

void board_tick(struct board *b, uint64_t now_ns)
{
	struct shown_run *next;

	if (b->agent.is_up && now_ns - b->last_line_ns > agent_silence_ns(b))
		board_lose_agent(b, now_ns);
	for (struct shown_run *r = b->first; b->agent.is_up && r; r = next) {
		next = r->next;
		run_tick(b, r, now_ns);
	}
	board_make_room(b);
	board_expire(b, now_ns);
	ended_expire(&b->ended, now_ns, b->keep_ns, BOARD_SCRAPES);
}

static void run_add_gauges(const struct shown_run *r)
{
	struct series *s = r->series;

	s->live += r->state == RUN_LIVE;
	s->stalled += r->state == RUN_LIVE && r->is_stalled;
	if (s->is_own && r->state == RUN_LIVE &&
	    (!s->start_epoch_ns || r->start_epoch_ns < s->start_epoch_ns))
		s->start_epoch_ns = r->start_epoch_ns;
	if (s->is_own && r->state == RUN_LIVE) {
		s->bounds.memory_max_bytes += r->bounds.memory_max_bytes;
		s->bounds.cpu_max_milli += r->bounds.cpu_max_milli;
		s->bounds.cpu_request_milli += r->bounds.cpu_request_milli;
	}
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_GAUGE &&
		    metric_has(&r->have, (enum metric_id)i))
			series_grow(s, (enum metric_id)i, r->value[i]);
}

int board_prepare(struct board *b, uint64_t now_ns)
{
	int err;

	board_tick(b, now_ns);
	err = board_assign_runs(b);
	series_clear_gauges(&b->node);
	for (struct series *s = b->series.first; s; s = s->next)
		series_clear_gauges(s);
	for (struct shown_run *r = b->first; r; r = r->next)
		if (r->series)
			run_add_gauges(r);
	return err;
}

void board_count_scrape(struct board *b)
{
	for (struct series *s = b->series.first; s; s = s->next) {
		s->is_new = false;
		if (!s->runs && s->scrapes < BOARD_SCRAPES)
			s->scrapes++;
	}
	for (struct series *s = b->users.first; s; s = s->next)
		s->is_new = false;
	ended_count_scrape(&b->ended);
}
