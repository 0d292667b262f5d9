// SPDX-License-Identifier: BSD-2-Clause
/* Clients of running runs, and the thread that makes their texts. */
#include "web/pulse.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/reader.h"
#include "store/database_open.h"
#include "store/query.h"
#include "store/rows.h"
#include "web/web_node.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS (200 * NSEC_PER_MSEC)
#define LINE_BYTES (1UL << 20) /* longest line of an agent */
#define IDLE_NS                                                                                    \
	(10 * NSEC_PER_SEC) /* a run without clients is kept this long, as one may reconnect */
#define PULSE_ROOM 2        /* buckets of charts: each sample is sent alone */
#define CALM_NS (15 * NSEC_PER_SEC) /* after this time without a sample a client gets a comment */

struct pulse_client {
	struct pulse *of;
	struct pulse_run *run;
	uint64_t after_ns; /* time of the latest sample that the client has */
	uint64_t next;     /* number of the next text, if @has_place */
	bool has_place, is_done;
	struct pulse_text *text; /* being sent; counted in its @users */
	size_t sent;             /* bytes of @text */
};

/* Drops a reference to @t, which may be NULL. */
static void pulse_text_drop(struct pulse_text *t)
{
	if (t && --t->users == 0)
		free(t);
}

/* A running run in a store: makes server-sent events of new samples. */

#define BEGIN_WITH 256              /* latest samples, read at the start */
#define MOST_FAILURES 50            /* consecutive failures, as others may be writing */
#define REOPEN_POLLS 1000           /* limits the work of a connection: see http/connections.h */
#define STATE_NS (5 * NSEC_PER_SEC) /* interval of checks that the recorder is alive */

/* Writes all metrics. The page knows which of them are totals. */
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
		t = memory_malloc(sizeof(*t) + room);
	if (t) {
		t->users = 1;
		t->at_ns = s->elapsed_ns;
		t->bytes = (size_t)snprintf(t->text, room, "id: %llu\ndata: %.*s\n\n",
					    (unsigned long long)s->elapsed_ns, (int)j.used, j.text);
	}
	jsonw_done(&j);
	return t;
}

/* Makes the text of a sample. Returns 0 or -ENOMEM. */
static int pulse_run_add(struct pulse *p, struct pulse_run *r, const struct sample *s)
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

/* A running job of the node: finds the lines of its run in the stream of the agent. */

#define READS 64                     /* of 64 KiB, per poll */
#define SETTLE_NS (2 * NSEC_PER_SEC) /* after a job ends, until the history has it */

struct node_reader {
	struct pulse *pulse;
	struct pulse_run *run;
	int err;
};

/* The first sample makes no text, as rates need a previous sample. */
static int node_take_sample(struct node_reader *in, const struct sample *s)
{
	struct pulse_run *r = in->run;

	if (r->last_ns)
		return s->elapsed_ns > r->last_ns ? pulse_run_add(in->pulse, r, s) : 0;
	charts_add(&r->charts, s);
	r->last_ns = s->elapsed_ns;
	return 0;
}

static void node_take_line(void *context, const char *text, size_t length)
{
	struct node_reader *in = context;
	struct line *l;

	if (in->err || !text || !node_line_is_of(text, length, in->run->uuid))
		return;
	l = memory_calloc(1, sizeof(*l)); /* too large for the stack */
	in->err = l ? line_read(l, text, length) : -ENOMEM;
	if (!in->err && l->kind == LINE_SAMPLE)
		in->err = node_take_sample(in, &l->sample);
	else if (!in->err && l->kind == LINE_EVENT)
		stall_state_update(&in->run->stall, l->tree);
	else if (!in->err && l->kind == LINE_SUMMARY)
		in->run->ended_ns = clock_ns(CLOCK_MONOTONIC);
	if (l)
		line_done(l);
	free(l);
}

/* Reads new lines of a job of the node. Returns 0 or -ENOMEM. */
static int pulse_node_read(struct pulse *p, struct pulse_run *r, bool *has_ended)
{
	struct node_reader in = { p, r, r->charts.last ? 0 : charts_init(&r->charts, PULSE_ROOM) };
	struct pollfd ready = { .fd = r->fd, .events = POLLIN };
	int err = in.err;

	for (int i = 0; !err && !r->ended_ns && i < READS && poll(&ready, 1, 0) > 0; i++) {
		err = line_stream_read(&r->lines, r->fd, node_take_line, &in);
		if (!err)
			err = in.err;
	}
	if (err && err != -ENOMEM &&
	    !r->ended_ns) /* the agent has ended or dropped this connection */
		r->ended_ns = clock_ns(CLOCK_MONOTONIC);
	*has_ended = r->ended_ns && clock_ns(CLOCK_MONOTONIC) - r->ended_ns > SETTLE_NS;
	return err == -ENOMEM ? err : 0;
}

/* Starts with the latest samples. The pages of clients already show most of them. */
static int pulse_run_begin(struct pulse_run *r)
{
	int64_t from = 0;
	bool is_none;
	int err = charts_init(&r->charts, PULSE_ROOM);

	if (!err)
		err = database_number(&r->d, &from, &is_none,
				      "SELECT elapsed_ns FROM sample WHERE run=%lld"
				      " ORDER BY elapsed_ns DESC LIMIT 1 OFFSET %d",
				      (long long)r->id, BEGIN_WITH);
	r->last_ns = r->first_ns = (uint64_t)from;
	r->events_read = INT64_MIN;
	return err;
}

/* A run has ended if it has a summary, was removed, or its recorder is gone. */
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

static int pulse_run_read(struct pulse *p, struct pulse_run *r, bool *has_ended)
{
	int64_t version = 0;
	bool is_first = !r->is_filled, is_none;
	int err = pulse_run_open(r);

	if (!err)
		err = database_number(&r->d, &version, &is_none, "PRAGMA data_version");
	/* check the end first, so that no sample before it is missed */
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

/* Reads new data of a run. Called by the thread without the lock. */
static void pulse_run_poll(struct pulse *p, struct pulse_run *r)
{
	uint64_t before = r->made;
	bool has_ended = false, is_news;
	int err = *r->uuid ? pulse_node_read(p, r, &has_ended) : pulse_run_read(p, r, &has_ended);

	if (err && r->is_open) { /* the store may have been replaced */
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

static void pulse_run_done(struct pulse_run *r)
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

static struct timespec time_in(uint64_t ns)
{
	uint64_t at = clock_ns(CLOCK_MONOTONIC) + ns;

	return (struct timespec){ .tv_sec = (time_t)(at / NSEC_PER_SEC),
				  .tv_nsec = (long)(at % NSEC_PER_SEC) };
}

static void pulse_release(struct pulse *p, struct pulse_run *r)
{
	pulse_run_done(r);
	pthread_mutex_lock(&p->lock);
	memset(r, 0, sizeof(*r));
	pthread_mutex_unlock(&p->lock);
}

/* Polls a run in use. Releases one that had no clients for some time. */
static void pulse_visit(struct pulse *p, struct pulse_run *r)
{
	bool is_idle, goes_on;

	pthread_mutex_lock(&p->lock);
	goes_on = r->path && !r->has_ended && !r->has_failed;
	is_idle = r->path && !r->clients && clock_ns(CLOCK_MONOTONIC) - r->idle_since_ns > IDLE_NS;
	if (is_idle)
		r->is_leaving = true; /* hides it from new clients */
	pthread_mutex_unlock(&p->lock);
	if (is_idle)
		pulse_release(p, r);
	else if (goes_on)
		pulse_run_poll(p, r);
}

static bool pulse_has_runs(const struct pulse *p)
{
	for (size_t i = 0; i < PULSE_RUNS; i++)
		if (p->runs[i].path)
			return true;
	return false;
}

static void *pulse_work(void *context)
{
	struct pulse *p = context;

	pthread_mutex_lock(&p->lock);
	while (!p->is_ending) {
		struct timespec until = time_in(POLL_NS);

		while (!p->is_ending && !pulse_has_runs(p))
			pthread_cond_wait(&p->work, &p->lock);
		pthread_mutex_unlock(&p->lock);
		for (size_t i = 0; i < PULSE_RUNS; i++)
			pulse_visit(p, &p->runs[i]);
		pthread_mutex_lock(&p->lock);
		while (!p->is_ending && pthread_cond_timedwait(&p->rest, &p->lock, &until) == 0)
			;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int pulse_start(struct pulse *p)
{
	pthread_condattr_t clock;
	int err;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->news, &clock);
	pthread_cond_init(&p->work, &clock);
	pthread_cond_init(&p->rest, &clock);
	pthread_condattr_destroy(&clock);
	err = pthread_create(&p->thread, NULL, pulse_work, p);
	p->is_started = !err;
	return -err;
}

void pulse_end(struct pulse *p)
{
	if (!p->is_started)
		return;
	pthread_mutex_lock(&p->lock);
	p->is_ending = true;
	pthread_cond_broadcast(&p->news);
	pthread_cond_broadcast(&p->work);
	pthread_cond_broadcast(&p->rest);
	pthread_mutex_unlock(&p->lock);
}

void pulse_stop(struct pulse *p)
{
	if (!p->is_started)
		return;
	pulse_end(p);
	pthread_join(p->thread, NULL);
	for (size_t i = 0; i < PULSE_RUNS; i++)
		pulse_run_done(&p->runs[i]);
	p->is_started = false;
}

static bool pulse_run_is(const struct pulse_run *r, const struct pulse_subject *s)
{
	if (*r->uuid && r->has_ended) /* a new client needs a new connection to the agent */
		return false;
	return r->path && !r->is_leaving && r->id == s->id &&
	       !strcmp(r->uuid, s->uuid ? s->uuid : "") && !strcmp(r->path, s->path);
}

/* Takes ownership of the stream. Returns 0 or -ENOMEM. */
static int pulse_run_begin_with(struct pulse_run *r, struct pulse_subject *s)
{
	char *path = memory_strdup(s->path);

	if (!path)
		return -ENOMEM;
	r->path = path;
	r->id = s->id;
	snprintf(r->uuid, sizeof(r->uuid), "%s", s->uuid ? s->uuid : "");
	r->lines.most = LINE_BYTES;
	r->fd = s->fd;
	s->fd = -1;
	return 0;
}

/* Returns the existing or a new entry, or NULL. Needs the lock. */
static struct pulse_run *pulse_find(struct pulse *p, struct pulse_subject *s)
{
	struct pulse_run *unused = NULL;

	for (size_t i = 0; i < PULSE_RUNS; i++) {
		struct pulse_run *r = &p->runs[i];

		if (pulse_run_is(r, s))
			return r;
		if (!r->path && !unused)
			unused = r;
	}
	return unused && !pulse_run_begin_with(unused, s) ? unused : NULL;
}

struct pulse_client *pulse_open(struct pulse *p, const struct pulse_subject *subject,
				uint64_t after_ns)
{
	struct pulse_client *c = memory_calloc(1, sizeof(*c));
	struct pulse_subject s = *subject;

	pthread_mutex_lock(&p->lock);
	if (c)
		*c = (struct pulse_client){ .of = p, .after_ns = after_ns };
	if (c && p->clients < PULSE_CLIENTS)
		c->run = pulse_find(p, &s);
	if (c && c->run) {
		c->run->clients++;
		p->clients++;
		pthread_cond_broadcast(&p->work);
	}
	pthread_mutex_unlock(&p->lock);
	if (s.fd >= 0) /* not needed by an existing entry, or no entry is free */
		close(s.fd);
	if (c && c->run)
		return c;
	free(c);
	return NULL;
}

void pulse_close(struct pulse_client *c)
{
	struct pulse *p = c->of;

	pthread_mutex_lock(&p->lock);
	c->run->clients--;
	c->run->idle_since_ns = clock_ns(CLOCK_MONOTONIC);
	p->clients--;
	pthread_mutex_unlock(&p->lock);
	pulse_text_drop(c->text);
	free(c);
}

/*
 * Finds the first text that the client lacks. Sets no place if texts after its latest sample were
 * dropped.
 */
static void client_find_place(struct pulse_client *c)
{
	const struct pulse_run *r = c->run;
	uint64_t first = r->made > PULSE_TEXTS ? r->made - PULSE_TEXTS : 0;

	if (c->after_ns < r->first_ns)
		return;
	for (c->next = first; c->next < r->made; c->next++)
		if (r->texts[c->next % PULSE_TEXTS]->at_ns > c->after_ns)
			break;
	/*
	 * dropped texts may be later than what the client has; the page of a job of the node has
	 * samples far apart, and there are no others
	 */
	c->has_place = c->next > first || !first || *r->uuid;
}

/* Writes the last event: "reload" if the page must be fetched again, or "end". */
static ssize_t client_finish(struct pulse_client *c, char *out, size_t most, const char *event)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "event: %s\ndata: {}\n\n", event);

	c->is_done = true;
	if ((size_t)n > most)
		return 0;
	memcpy(out, text, (size_t)n);
	return n;
}

static ssize_t client_send(struct pulse_client *c, char *out, size_t most)
{
	size_t n = c->text->bytes - c->sent;

	n = n < most ? n : most;
	memcpy(out, c->text->text + c->sent, n);
	c->sent += n;
	if (c->sent == c->text->bytes) {
		pulse_text_drop(c->text);
		c->text = NULL;
	}
	return (ssize_t)n;
}

/*
 * Waits for a text, with the lock. Returns a negative value if there is one, otherwise the result
 * of pulse_read().
 */
static ssize_t client_wait(struct pulse_client *c, char *out, size_t most)
{
	static const char calm[] = ": no sample\n\n";
	struct timespec until = time_in(CALM_NS);
	struct pulse_run *r = c->run;

	for (;;) {
		if (c->of->is_ending || r->has_failed)
			return 0;
		if (r->is_filled && !c->has_place)
			client_find_place(c);
		if (r->is_filled && (!c->has_place || r->made - c->next > PULSE_TEXTS))
			return client_finish(c, out, most, "reload");
		if (r->is_filled && c->next < r->made)
			return -1;
		if (r->has_ended)
			return client_finish(c, out, most, "end");
		if (pthread_cond_timedwait(&c->of->news, &c->of->lock, &until)) {
			memcpy(out, calm, sizeof(calm) - 1);
			return sizeof(calm) - 1;
		}
	}
}

ssize_t pulse_read(struct pulse_client *c, char *out, size_t most)
{
	ssize_t n;

	if (c->is_done || most < 64)
		return 0;
	if (c->text)
		return client_send(c, out, most);
	pthread_mutex_lock(&c->of->lock);
	n = client_wait(c, out, most);
	if (n < 0) {
		c->text = c->run->texts[c->next++ % PULSE_TEXTS];
		c->text->users++;
		c->sent = 0;
	}
	pthread_mutex_unlock(&c->of->lock);
	return n < 0 ? client_send(c, out, most) : n;
}
