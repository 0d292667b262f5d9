// SPDX-License-Identifier: BSD-2-Clause
/* A run under way: what its store has of it since the last look, as texts of server-sent events. */
#include "web/pulse_parts.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "store/query.h"
#include "store/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN_WITH 256              /* samples that are already there */
#define MOST_FAILURES 50            /* in turn: others may be writing */
#define REOPEN_POLLS 1000           /* a connection's work is bounded: see defence.h */
#define STATE_NS (5 * NSEC_PER_SEC) /* how often its recorder is looked for */

/* All that the sample has: the page knows which of it is a total. */
static void sample_write(const struct sample *s, struct jsonw *j)
{
	jsonw_object(j, "sample");
	jsonw_decimal(j, "elapsed_seconds", s->elapsed_ns, 9);
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(s, (enum metric_id)i))
			jsonw_decimal(j, metric_get((enum metric_id)i)->key, s->value[i],
				      metric_decimals((enum metric_id)i));
	jsonw_object_end(j);
}

static struct pulse_text *text_make(struct pulse_run *r, const struct sample *s)
{
	struct pulse_text *t = NULL;
	struct jsonw j = { 0 };
	size_t room;

	jsonw_object(&j, NULL);
	sample_write(s, &j);
	stall_state_write(&r->stall, &j);
	charts_write_newest(&r->charts, &j);
	jsonw_object_end(&j);
	room = j.used + 64;
	if (!j.failed)
		t = malloc(sizeof(*t) + room);
	if (t) {
		t->users = 1;
		t->at_ns = s->elapsed_ns;
		t->bytes = (size_t)snprintf(t->text, room, "id: %llu\ndata: %.*s\n\n",
					    (unsigned long long)s->elapsed_ns, (int)j.used, j.text);
	}
	jsonw_done(&j);
	return t;
}

int pulse_run_add(struct pulse *p, struct pulse_run *r, const struct sample *s)
{
	struct pulse_text **place, *t;

	charts_add(&r->charts, s);
	r->last_ns = s->elapsed_ns;
	t = text_make(r, s);
	if (!t)
		return -ENOMEM;
	pthread_mutex_lock(&p->lock);
	place = &r->texts[r->made++ % PULSE_TEXTS];
	pulse_text_drop(*place);
	*place = t;
	pthread_mutex_unlock(&p->lock);
	return 0;
}

static int samples_add(struct pulse *p, struct pulse_run *r)
{
	sqlite3_stmt *rows = NULL;
	struct sample s = { 0 };
	int err = rows_of_later_samples(&r->d, r->id, r->last_ns, &rows), rc = SQLITE_DONE;

	while (!err && (rc = sqlite3_step(rows)) == SQLITE_ROW) {
		err = row_sample(&r->d, NULL, rows, &s);
		if (!err)
			err = pulse_run_add(p, r, &s);
	}
	if (!err)
		err = database_error(&r->d, rc);
	sample_reset(&s);
	sqlite3_finalize(rows);
	return err;
}

/* The last ones that are there: clients have seen most of them in their page. */
static int pulse_run_begin(struct pulse_run *r)
{
	int64_t from = 0;
	bool is_none;
	int err = charts_init(&r->charts);

	if (!err)
		err = database_number(&r->d, &from, &is_none,
				      "SELECT elapsed_ns FROM sample WHERE run=%lld"
				      " ORDER BY elapsed_ns DESC LIMIT 1 OFFSET %d",
				      (long long)r->id, BEGIN_WITH);
	r->last_ns = r->first_ns = (uint64_t)from;
	r->events_read = INT64_MIN;
	return err;
}

/* Its summary has come, it was removed, or its recorder is gone. */
static int run_check_end(struct pulse_run *r, bool *has_ended)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct run_filter only = { .id = r->id };
	struct stored_runs found = { 0 };
	int64_t ended = 0;
	bool is_none;
	int err = database_number(&r->d, &ended, &is_none, "SELECT ended FROM run WHERE id=%lld",
				  (long long)r->id);

	*has_ended = !err && (ended || is_none);
	if (err || *has_ended || now_ns - r->checked_ns < STATE_NS)
		return err;
	r->checked_ns = now_ns;
	err = query_runs(&r->d, 0, &only, &found);
	*has_ended = !err && (!found.nr || found.runs[0].state != RUN_RUNNING);
	stored_runs_done(&found);
	return err;
}

static int pulse_run_open(struct pulse_run *r)
{
	int err;

	if (r->is_open && r->polls++ < REOPEN_POLLS)
		return 0;
	if (r->is_open)
		database_close(&r->d);
	err = database_open(&r->d, r->path, DATABASE_READ);
	r->is_open = !err;
	r->polls = 0;
	r->version = -1;
	if (err)
		database_close(&r->d);
	return err;
}

static int run_look(struct pulse *p, struct pulse_run *r, bool *has_ended)
{
	int64_t version = 0;
	bool is_first = !r->is_filled, is_none;
	int err = pulse_run_open(r);

	if (!err)
		err = database_number(&r->d, &version, &is_none, "PRAGMA data_version");
	/* the end is asked for first, so that no sample before it is left out */
	if (!err)
		err = run_check_end(r, has_ended);
	if (err || (!is_first && version == r->version && !*has_ended))
		return err;
	if (is_first && !r->charts.last)
		err = pulse_run_begin(r);
	if (!err)
		err = query_stall(&r->d, r->id, &r->events_read, &r->stall);
	if (!err)
		err = samples_add(p, r);
	if (!err)
		r->version = version;
	return err;
}

void pulse_run_poll(struct pulse *p, struct pulse_run *r)
{
	uint64_t before = r->made;
	bool has_ended = false, is_news;
	int err = *r->uuid ? pulse_node_look(p, r, &has_ended) : run_look(p, r, &has_ended);

	if (err && r->is_open) { /* it may have been replaced */
		log_info("cannot follow run %lld: %s", (long long)r->id, r->d.why);
		database_close(&r->d);
		r->is_open = false;
	}
	pthread_mutex_lock(&p->lock);
	r->failures = err ? r->failures + 1 : 0;
	r->has_failed = r->failures > MOST_FAILURES;
	is_news = r->made != before || (!err && (!r->is_filled || has_ended)) || r->has_failed;
	r->is_filled |= !err;
	r->has_ended = !err && has_ended;
	if (is_news)
		pthread_cond_broadcast(&p->news);
	pthread_mutex_unlock(&p->lock);
}

void pulse_run_done(struct pulse_run *r)
{
	if (r->is_open)
		database_close(&r->d);
	if (r->path && *r->uuid)
		close(r->fd);
	line_stream_done(&r->lines);
	charts_done(&r->charts);
	for (size_t i = 0; i < PULSE_TEXTS; i++)
		pulse_text_drop(r->texts[i]);
	free(r->path);
}
