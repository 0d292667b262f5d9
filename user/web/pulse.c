// SPDX-License-Identifier: BSD-2-Clause
/* The clients of runs under way: their places in the texts, and the thread that makes these. */
#include "web/pulse.h"

#include "base/clock.h"
#include "base/log.h"
#include "web/pulse_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_NS (200 * NSEC_PER_MSEC)
#define LINE_BYTES (1UL << 20)      /* of the longest line of an agent */
#define IDLE_NS (10 * NSEC_PER_SEC) /* a run is kept so long for a client that comes back */
#define CALM_NS (15 * NSEC_PER_SEC) /* after so long without a sample a client gets a comment */

struct pulse_client {
	struct pulse *of;
	struct pulse_run *run;
	uint64_t after_ns; /* it has the samples up to that one */
	uint64_t next;     /* the number of its next text, once it has a place */
	bool has_place, is_done;
	struct pulse_text *text; /* that is being sent; its user */
	size_t sent;             /* bytes of it */
};

void pulse_text_drop(struct pulse_text *t)
{
	if (t && --t->users == 0)
		free(t);
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

/* One that has a place is polled, or after a time without clients released. */
static void pulse_visit(struct pulse *p, struct pulse_run *r)
{
	bool is_idle, goes_on;

	pthread_mutex_lock(&p->lock);
	goes_on = r->path && !r->has_ended && !r->has_failed;
	is_idle = r->path && !r->clients && clock_ns(CLOCK_MONOTONIC) - r->idle_since_ns > IDLE_NS;
	if (is_idle)
		r->is_leaving = true; /* no client finds it any more */
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
	if (*r->uuid && r->has_ended) /* if it is asked for again, the agent has given us up */
		return false;
	return r->path && !r->is_leaving && r->id == s->id &&
	       !strcmp(r->uuid, s->uuid ? s->uuid : "") && !strcmp(r->path, s->path);
}

/* Takes its stream. -ENOMEM. */
static int pulse_run_begin_with(struct pulse_run *r, struct pulse_subject *s)
{
	char *path = strdup(s->path);

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

/* The one that is there, or a free one. With the lock. */
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
	struct pulse_client *c = calloc(1, sizeof(*c));
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
	if (s.fd >= 0) /* others follow it, or it cannot be followed */
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

/* Where it goes on: at the first text that it has not; without a place, it is too late for that. */
static void client_find_place(struct pulse_client *c)
{
	const struct pulse_run *r = c->run;
	uint64_t first = r->made > PULSE_TEXTS ? r->made - PULSE_TEXTS : 0;

	if (c->after_ns < r->first_ns)
		return;
	for (c->next = first; c->next < r->made; c->next++)
		if (r->texts[c->next % PULSE_TEXTS]->at_ns > c->after_ns)
			break;
	/* what was dropped may have been later than what it has; of a job of the node the page has
	 * samples that are far apart, and more cannot be had */
	c->has_place = c->next > first || !first || *r->uuid;
}

/* The last words for it: the page is to be fetched again, or the run has ended. */
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

/* Waits for a text; with the lock. Negative: there is one; else what to return. */
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
