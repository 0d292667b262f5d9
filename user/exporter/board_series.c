// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which runs have a series of their own. That is decided once for each run, at the first scrape
 * that it is in, when something is known of its use. If runs changed their series later, counters
 * would fall.
 */
#include "exporter/board.h"

#include "run/openmetrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void series_grow(struct series *s, enum metric_id id, uint64_t by)
{
	if (__builtin_add_overflow(s->value[id], by, &s->value[id]))
		s->value[id] = UINT64_MAX;
	metric_put(&s->have, id);
}

void series_release(struct series *s)
{
	buffer_done(&s->labels);
}

/* Finds the series with the labels @text, which it takes, or makes it. NULL without memory. */
static struct series *series_take_labels(struct name_index *x, struct series **first,
					 struct buffer *text)
{
	struct name_entry *e = NULL;
	struct series *s = NULL;

	if (!text->failed)
		e = name_index_find(x, text->text, text->used);
	if (!text->failed && !e)
		s = calloc(1, sizeof(*s));
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
	if (*value) /* an empty label is the same as none */
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

struct series *board_user(struct board *b, const struct job_labels *l)
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

/* That of all jobs without one of their own. A run within another job stays apart: its use is also
 * that job's, and would be counted twice. */
static struct series *board_rest(struct board *b, const struct job_labels *l)
{
	const char *kind = strcmp(l->kind, "run") ? "other" : "run";
	struct buffer text = { 0 };
	struct series *s;

	label_put_job(&text, "other", "", kind, "");
	s = series_take_labels(&b->series, &b->first_series, &text);
	if (s && s->is_own) { /* a job that has the same labels */
		s->is_own = false;
		b->nr_own--;
	}
	return s;
}

static struct series *board_own(struct board *b, const struct job_labels *l)
{
	struct buffer text = { 0 };
	struct series *s;
	bool is_known;

	label_put_job(&text, l->job, l->user, l->kind, l->name);
	is_known = !text.failed && name_index_find(&b->series, text.text, text.used);
	if (!text.failed && !is_known && b->nr_own >= b->max_series) {
		buffer_done(&text);
		b->counts.jobs_summed++;
		return board_rest(b, l);
	}
	s = series_take_labels(&b->series, &b->first_series, &text);
	if (s && !is_known) {
		s->is_own = true;
		b->nr_own++;
	}
	return s;
}

/* The run gets its series, and is forgotten if it has ended. */
static int run_decide(struct board *b, struct shown_run *r, bool to_rest)
{
	bool is_rest = to_rest || !strcmp(r->labels.kind, "other");
	struct series *s = is_rest ? board_rest(b, &r->labels) : board_own(b, &r->labels);

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
	board_forget_run(b, r);
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

/* A live run is not decided before something is known of its use. */
static bool run_is_undecided(const struct shown_run *r, bool only_ended)
{
	if (r->series)
		return false;
	return r->state == RUN_ENDED || (!only_ended && run_has_values(r));
}

int board_decide(struct board *b, bool ended_to_rest)
{
	struct shown_run **runs;
	size_t nr = 0;
	int err = 0;

	for (struct shown_run *r = b->first; r; r = r->next)
		nr += run_is_undecided(r, ended_to_rest);
	if (!nr)
		return 0;
	runs = calloc(nr, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	nr = 0;
	for (struct shown_run *r = b->first; r; r = r->next)
		if (run_is_undecided(r, ended_to_rest))
			runs[nr++] = r;
	qsort(runs, nr, sizeof(*runs), compare_use);
	for (size_t i = 0; i < nr; i++)
		if (run_decide(b, runs[i], ended_to_rest))
			err = -ENOMEM;
	free(runs);
	return err;
}

void board_expire(struct board *b, uint64_t now_ns)
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
