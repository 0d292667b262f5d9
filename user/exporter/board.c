// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/board.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "export/openmetrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void name_index_init(struct name_index *x)
{
	memset(x, 0, sizeof(*x));
	if (getrandom(&x->seed, sizeof(x->seed), GRND_NONBLOCK) != (ssize_t)sizeof(x->seed))
		x->seed = clock_ns(CLOCK_MONOTONIC);
}

/* Seeded FNV-1a. */
static size_t name_place(const struct name_index *x, const char *name, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ x->seed;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ULL;
	return (hash ^ hash >> 32) % NAME_PLACES;
}

static struct name_entry *name_index_find(const struct name_index *x, const char *name,
					  size_t length)
{
	struct name_entry *e = x->places[name_place(x, name, length)];

	while (e && !text_is(name, length, e->name))
		e = e->next;
	return e;
}

/* Adds @e, which is in no index, under a copy of @name, which must be new. Returns 0 or -ENOMEM. */
static int name_index_add(struct name_index *x, struct name_entry *e, const char *name,
			  size_t length)
{
	struct name_entry **place = &x->places[name_place(x, name, length)];

	e->name = memory_strndup(name, length);
	if (!e->name)
		return -ENOMEM;
	e->next = *place;
	*place = e;
	x->nr++;
	return 0;
}

static void name_index_remove(struct name_index *x, struct name_entry *e)
{
	struct name_entry **at = &x->places[name_place(x, e->name, strlen(e->name))];

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	x->nr--;
	free(e->name);
	*e = (struct name_entry){ 0 };
}

/* Removes the run; its values stay in its series. */
static void board_remove_run(struct board *b, struct shown_run *r)
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

/*
 * Assigns runs to series. Each run is assigned once, at the first scrape at which its use is known:
 * if runs changed series later, counters would fall.
 */

/* Adds an increment to a counter, which saturates. */
static void series_grow(struct series *s, enum metric_id id, uint64_t by)
{
	if (__builtin_add_overflow(s->value[id], by, &s->value[id]))
		s->value[id] = UINT64_MAX;
	metric_put(&s->have, id);
}

static void series_release(struct series *s)
{
	buffer_done(&s->labels);
}

/*
 * Finds or adds the series with the labels @text, which it consumes. Returns NULL if out of memory.
 */
static struct series *series_take_labels(struct name_index *x, struct series **first,
					 struct buffer *text)
{
	struct name_entry *e = NULL;
	struct series *s = NULL;

	if (!text->failed)
		e = name_index_find(x, text->text, text->used);
	if (!text->failed && !e)
		s = memory_calloc(1, sizeof(*s));
	if (s && name_index_add(x, &s->entry, text->text, text->used)) {
		free(s);
		s = NULL;
	} else if (s) {
		s->labels = *text;
		s->next = *first;
		*first = s;
		return s;
	}
	buffer_done(text);
	return e ? (struct series *)((char *)e - offsetof(struct series, entry)) : NULL;
}

static void label_put(struct buffer *t, const char *key, const char *value)
{
	if (*value) /* an empty label equals an absent one */
		openmetrics_put_label(t, key, value);
}

static void label_put_job(struct buffer *t, const char *job, const char *user, const char *kind,
			  const char *name)
{
	label_put(t, "job", job);
	label_put(t, "user", user);
	label_put(t, "kind", kind);
	label_put(t, "name", name);
	buffer_puts(t, t->used ? "}" : "{}");
}

/* Finds or adds the series of the user and kind in @l. Returns NULL if out of memory. */
static struct series *board_user(struct board *b, const struct job_labels *l)
{
	struct buffer text = { 0 };

	label_put_job(&text, "", l->user, l->kind, "");
	if (!text.failed && b->users.nr >= BOARD_USERS &&
	    !name_index_find(&b->users, text.text, text.used)) {
		text.used = 0;
		label_put_job(&text, "", "", l->kind, "");
	}
	return series_take_labels(&b->users, &b->first_user, &text);
}

/*
 * Returns the series of all jobs without one of their own. Runs are kept apart from other kinds:
 * the use of a run within a job is part of that job as well, and would be counted twice.
 */
static struct series *board_common_series(struct board *b, const struct job_labels *l)
{
	const char *kind = strcmp(l->kind, "run") ? "other" : "run";
	struct buffer text = { 0 };
	struct series *s;

	label_put_job(&text, "other", "", kind, "");
	s = series_take_labels(&b->series, &b->first_series, &text);
	if (s && s->is_own) { /* a job happens to have the same labels */
		s->is_own = false;
		b->nr_own--;
	}
	return s;
}

static struct series *board_own_series(struct board *b, const struct job_labels *l)
{
	struct buffer text = { 0 };
	struct series *s;
	bool is_known;

	label_put_job(&text, l->job, l->user, l->kind, l->name);
	is_known = !text.failed && name_index_find(&b->series, text.text, text.used);
	if (!text.failed && !is_known && b->nr_own >= b->max_series) {
		buffer_done(&text);
		b->counts.jobs_summed++;
		return board_common_series(b, l);
	}
	s = series_take_labels(&b->series, &b->first_series, &text);
	if (s && !is_known) {
		s->is_own = true;
		b->nr_own++;
	}
	return s;
}

/* Assigns the run to a series, and removes it if it has ended. */
static int run_assign_series(struct board *b, struct shown_run *r, bool to_rest)
{
	bool is_rest = to_rest || !strcmp(r->labels.kind, "other");
	struct series *s =
		is_rest ? board_common_series(b, &r->labels) : board_own_series(b, &r->labels);

	if (!s)
		return -ENOMEM;
	if (to_rest)
		b->counts.jobs_summed++;
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_COUNTER &&
		    metric_has(&r->have, (enum metric_id)i))
			series_grow(s, (enum metric_id)i, r->value[i]);
	r->series = s;
	if (r->state != RUN_ENDED) {
		s->runs++;
		return 0;
	}
	if (!s->runs && s->ended_ns < r->state_ns) {
		s->ended_ns = r->state_ns;
		s->scrapes = 0;
	}
	b->nr_waiting--;
	board_remove_run(b, r);
	return 0;
}

static int compare_use(const void *a, const void *b)
{
	uint64_t one = (*(struct shown_run *const *)a)->value[M_cpu];
	uint64_t other = (*(struct shown_run *const *)b)->value[M_cpu];

	return (one < other) - (one > other);
}

static bool run_has_values(const struct shown_run *r)
{
	uint64_t any = 0;

	for (int i = 0; i < METRIC_WORDS; i++)
		any |= r->have.bits[i];
	return any;
}

/* A live run is not assigned before its use is known. */
static bool run_is_unassigned(const struct shown_run *r, bool only_ended)
{
	if (r->series)
		return false;
	return r->state == RUN_ENDED || (!only_ended && run_has_values(r));
}

/*
 * Assigns all runs without a series, and removes those of them that have ended. @ended_to_rest
 * assigns only ended runs, to the common series. Returns 0 or -ENOMEM.
 */
static int board_assign_series(struct board *b, bool ended_to_rest)
{
	struct shown_run **runs;
	size_t nr = 0;
	int err = 0;

	for (struct shown_run *r = b->first; r; r = r->next)
		nr += run_is_unassigned(r, ended_to_rest);
	if (!nr)
		return 0;
	runs = memory_calloc(nr, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	nr = 0;
	for (struct shown_run *r = b->first; r; r = r->next)
		if (run_is_unassigned(r, ended_to_rest))
			runs[nr++] = r;
	qsort(runs, nr, sizeof(*runs), compare_use);
	for (size_t i = 0; i < nr; i++)
		if (run_assign_series(b, runs[i], ended_to_rest))
			err = -ENOMEM;
	free(runs);
	return err;
}

static void board_expire(struct board *b, uint64_t now_ns)
{
	for (struct series **at = &b->first_series; *at;) {
		struct series *s = *at;

		if (!s->is_own || s->runs || s->scrapes < BOARD_SCRAPES ||
		    now_ns - s->ended_ns <= b->keep_ns) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		b->nr_own--;
		name_index_remove(&b->series, &s->entry);
		series_release(s);
		free(s);
	}
}

/* Intervals without a sample after which a run is silent. */
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
		board_remove_run(b, r);
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
		if (!--r->series->runs) {
			r->series->ended_ns = now_ns;
			r->series->scrapes = 0;
		}
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
		board_assign_series(b, true);
}

void board_connect(struct board *b, uint64_t now_ns)
{
	b->agent.is_up = true;
	b->connected_ns = now_ns;
	b->counts.streams++;
}

void board_disconnect(struct board *b, uint64_t now_ns)
{
	b->agent = (struct agent_state){ 0 };
	for (struct shown_run *r = b->first; r; r = r->next)
		if (r->state == RUN_LIVE)
			run_set_state(r, RUN_SILENT, now_ns);
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

int board_end_run(struct board *b, const char *run, const struct sample *total, uint64_t now_ns)
{
	struct shown_run *r = board_find_run(b, run);

	if (!r)
		return -ENOENT;
	shown_run_update(r, total, false);
	run_end(b, r, now_ns);
	board_make_room(b);
	return 0;
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
	err = board_assign_series(b, false);
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
