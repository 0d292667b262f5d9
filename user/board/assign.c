// SPDX-License-Identifier: BSD-2-Clause
#include "board/board.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void board_remove_run(struct board *b, struct shown_run *r)
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

/* Finds or adds a series as series_take_labels() does; one that is added has its beginning. */
static struct series *series_take_new(const struct board *b, struct series_list *list,
				      struct buffer *text, uint64_t began_epoch_ns)
{
	const size_t nr = list->index.nr;
	struct series *s = series_take_labels(list, text);

	if (list->index.nr > nr) {
		s->began_epoch_ns = began_epoch_ns;
		s->is_new = began_epoch_ns > b->began_epoch_ns;
	}
	return s;
}

struct series *board_user(struct board *b, const struct job_labels *l, uint64_t began_epoch_ns)
{
	struct job_labels of_user = { .is_nested = l->is_nested };
	struct buffer text = { 0 };

	memcpy(of_user.user, l->user, sizeof(of_user.user));
	memcpy(of_user.kind, l->kind, sizeof(of_user.kind));
	b->style->put_labels(&text, &of_user);
	if (b->users.index.nr >= BOARD_USERS && !series_find_labels(&b->users, &text)) {
		text.used = 0;
		*of_user.user = '\0';
		b->style->put_labels(&text, &of_user);
	}
	return series_take_new(b, &b->users, &text, began_epoch_ns);
}

/*
 * Returns the series of all jobs without one of their own. Those within other jobs are kept apart,
 * as their use is part of these as well.
 */
static struct series *board_common_series(struct board *b, const struct shown_run *r)
{
	const struct job_labels common = { .job = "other",
					   .kind = "other",
					   .is_nested = r->labels.is_nested };
	struct buffer text = { 0 };
	struct series *s;

	b->style->put_labels(&text, &common);
	s = series_take_new(b, &b->series, &text, r->start_epoch_ns);
	if (s && s->is_own) { /* a job happens to have the same labels */
		s->is_own = false;
		b->nr_own--;
	}
	return s;
}

static bool series_is_over(const struct series *s)
{
	return s->is_own && !s->runs && s->scrapes >= BOARD_SCRAPES;
}

static void board_remove_series(struct board *b, struct series **at)
{
	series_remove(&b->series, at);
	b->nr_own--;
}

/* Removes the series of the job that ended first, if its end was scraped. */
static bool board_remove_ended(struct board *b)
{
	struct series **oldest = NULL;

	for (struct series **at = &b->series.first; *at; at = &(*at)->next)
		if (series_is_over(*at) && (!oldest || (*at)->ended_ns < (*oldest)->ended_ns))
			oldest = at;
	if (oldest)
		board_remove_series(b, oldest);
	return oldest;
}

/* Returns whether there is room for a series, for which an ended one may have to go. */
static bool board_has_room(struct board *b)
{
	if (b->nr_own < b->max_series)
		return true;
	/* all are searched once for all runs that are assigned */
	b->is_full = b->is_full || !board_remove_ended(b);
	return !b->is_full;
}

/*
 * Returns the series of the run's own labels, which it adds for a live run if there is room. NULL
 * if there is none.
 */
static struct series *board_own_series(struct board *b, const struct shown_run *r)
{
	struct buffer text = { 0 };
	struct series *s;

	b->style->put_labels(&text, &r->labels);
	s = series_find_labels(&b->series, &text);
	if (s || r->state == RUN_ENDED || !board_has_room(b)) {
		buffer_done(&text);
		return s;
	}
	s = series_take_new(b, &b->series, &text, r->start_epoch_ns);
	if (s) {
		if (r->series) { /* what it has used so far stays in the common one */
			s->began_epoch_ns = clock_ns(CLOCK_REALTIME);
			s->is_new = false;
		}
		s->is_own = true;
		b->nr_own++;
	}
	return s;
}

void series_end_run(struct series *s, const struct shown_run *r, uint64_t now_ns)
{
	if (r->end_epoch_ns > s->end_epoch_ns)
		s->end_epoch_ns = r->end_epoch_ns;
	if (--s->runs)
		return;
	s->ended_ns = now_ns;
	s->scrapes = 0;
}

/* Moves a live run out of the common series; its counters there stay, and start at 0 in @s. */
static void run_promote(struct board *b, struct shown_run *r, struct series *s)
{
	series_end_run(r->series, r, r->state_ns);
	r->series = s;
	s->runs++;
	b->counts.jobs_promoted++;
}

bool run_is_rest(const struct shown_run *r)
{
	return !strcmp(r->labels.kind, "other");
}

/* Assigns the run to a series, and removes it if it has ended. */
static int run_assign_series(struct board *b, struct shown_run *r)
{
	struct series *s = run_is_rest(r) ? NULL : board_own_series(b, r);
	const bool is_promoted = r->series;

	if (!s && is_promoted)
		return 0;
	if (!s) {
		s = board_common_series(b, r);
		b->counts.jobs_summed += !run_is_rest(r);
	}
	if (!s)
		return -ENOMEM;
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_COUNTER &&
		    metric_has(&r->have, (enum metric_id)i))
			series_grow(s, (enum metric_id)i, is_promoted ? 0 : r->value[i]);
	if (is_promoted) {
		run_promote(b, r, s);
		return 0;
	}
	r->series = s;
	s->runs++;
	if (r->state != RUN_ENDED)
		return 0;
	series_end_run(s, r, r->state_ns);
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

static bool run_has_ended(const struct board *b, const struct shown_run *r)
{
	(void)b;
	return !r->series && r->state == RUN_ENDED;
}

static bool run_awaits_names(const struct board *b, const struct shown_run *r)
{
	const char *kind = r->labels.kind;

	return !*r->labels.pod && (!strcmp(kind, "pod") || !strcmp(kind, "container")) &&
	       r->age_ns < b->interval_ns * BOARD_NAMING_INTERVALS;
}

/* A live run is not assigned before its use and names are known and it is old enough. */
static bool run_is_to_assign(const struct board *b, const struct shown_run *r)
{
	if (!r->series)
		return r->state == RUN_ENDED ||
		       (run_has_values(r) && r->age_ns >= b->style->least_ns &&
			!run_awaits_names(b, r));
	return r->state == RUN_LIVE && !r->series->is_own && !run_is_rest(r);
}

static int board_assign(struct board *b,
			bool (*is_chosen)(const struct board *b, const struct shown_run *r))
{
	struct shown_run **runs;
	size_t nr = 0;
	int err = 0;

	for (struct shown_run *r = b->first; r; r = r->next)
		nr += is_chosen(b, r);
	if (!nr)
		return 0;
	runs = memory_calloc(nr, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	nr = 0;
	for (struct shown_run *r = b->first; r; r = r->next)
		if (is_chosen(b, r))
			runs[nr++] = r;
	qsort(runs, nr, sizeof(*runs), compare_use);
	b->is_full = false;
	for (size_t i = 0; i < nr; i++)
		if (run_assign_series(b, runs[i]))
			err = -ENOMEM;
	free(runs);
	return err;
}

int board_assign_runs(struct board *b)
{
	return board_assign(b, run_is_to_assign);
}

int board_assign_ended(struct board *b)
{
	return board_assign(b, run_has_ended);
}

void board_expire(struct board *b, uint64_t now_ns)
{
	for (struct series **at = &b->series.first; *at;) {
		if (series_is_over(*at) && now_ns - (*at)->ended_ns > b->keep_ns)
			board_remove_series(b, at);
		else
			at = &(*at)->next;
	}
}
