// SPDX-License-Identifier: BSD-2-Clause
#include "store/store.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/stack.h"
#include "store/store_writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WAITING (32UL << 20)        /* bytes of queued lines; more are dropped */
#define BATCH_BYTES (1UL << 20)         /* a batch of this size is written without delay */
#define COMMIT_NS (500 * NSEC_PER_MSEC) /* delay after the first line */
#define RETRY_NS (100 * NSEC_PER_MSEC)
#define END_SECONDS 5 /* the end of a run must not wait for a disk that hangs */

struct store {
	pthread_t thread;
	pthread_mutex_t lock; /* protects the members up to `why` */
	pthread_cond_t changed;
	char *waiting; /* owned */
	size_t used, room;
	uint64_t lost;
	bool is_ending, has_failed, has_finished;
	int64_t run;
	char why[600];

	const char *path;
	struct store_writer writer; /* used only by the thread, as are the members below */
	char *batch;                /* owned */
	size_t batch_used, batch_room;
	uint64_t batch_lost; /* lines dropped so far, when it was taken */
};

static struct timespec deadline_after(uint64_t ns)
{
	uint64_t at = clock_ns(CLOCK_MONOTONIC) + ns;

	return (struct timespec){ .tv_sec = (time_t)(at / NSEC_PER_SEC),
				  .tv_nsec = (long)(at % NSEC_PER_SEC) };
}

/* Records the failure; all further lines are discarded. */
static void store_fail(struct store *s)
{
	if (!s->writer.d.why[0])
		snprintf(s->writer.d.why, sizeof(s->writer.d.why), "out of memory");
	pthread_mutex_lock(&s->lock);
	s->has_failed = true;
	s->used = 0;
	snprintf(s->why, sizeof(s->why), "%s", s->writer.d.why);
	pthread_mutex_unlock(&s->lock);
	log_warn("the run is not saved in the store '%s': %s; the command continues", s->path,
		 s->writer.d.why);
}

/* Waits for lines, then up to COMMIT_NS for more. Returns false if this batch is the last. */
static bool store_take_batch(struct store *s)
{
	struct timespec until;
	char *text = s->batch;
	size_t room = s->batch_room;
	bool go_on;

	pthread_mutex_lock(&s->lock);
	while (!s->used && !s->is_ending)
		pthread_cond_wait(&s->changed, &s->lock);
	until = deadline_after(COMMIT_NS);
	while (!s->is_ending && s->used < BATCH_BYTES)
		if (pthread_cond_timedwait(&s->changed, &s->lock, &until))
			break;
	s->batch = s->waiting;
	s->batch_used = s->used;
	s->batch_room = s->room;
	s->waiting = text;
	s->used = 0;
	s->room = room;
	go_on = !s->is_ending;
	s->batch_lost = s->lost;
	pthread_mutex_unlock(&s->lock);
	return go_on;
}

/* Retries without limit while others write to the store; store_finish() has a limit. */
static int store_retry(struct store *s, int (*attempt)(struct store *s))
{
	struct timespec pause = { .tv_nsec = RETRY_NS };
	int err;

	while ((err = attempt(s)) == -EAGAIN)
		nanosleep(&pause, NULL);
	return err;
}

static int store_begin_batch(struct store *s)
{
	return store_writer_begin(&s->writer);
}

static int store_commit_batch(struct store *s)
{
	return store_writer_commit(&s->writer, s->batch_lost);
}

static int store_write_batch(struct store *s)
{
	char *at = s->batch, *stop = s->batch + s->batch_used, *newline;
	int err;

	if (!s->batch_used)
		return 0;
	err = store_retry(s, store_begin_batch);
	while (!err && (newline = memchr(at, '\n', (size_t)(stop - at)))) {
		err = store_writer_put(&s->writer, at, (size_t)(newline + 1 - at));
		at = newline + 1;
	}
	if (!err)
		err = store_retry(s, store_commit_batch);
	if (err) {
		store_writer_undo(&s->writer);
		return err;
	}
	pthread_mutex_lock(&s->lock);
	s->run = s->writer.run->id;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static int store_open_file(struct store *s)
{
	return store_writer_open(&s->writer, s->path);
}

static void *store_run_thread(void *arg)
{
	struct store *s = arg;
	int err = store_retry(s, store_open_file);
	bool go_on = true;

	while (!err && go_on) {
		go_on = store_take_batch(s);
		err = store_write_batch(s);
	}
	if (err)
		store_fail(s);
	store_writer_close(&s->writer);
	pthread_mutex_lock(&s->lock);
	s->has_finished = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct store *store_start(const char *path)
{
	struct store *s = memory_calloc(1, sizeof(*s));
	pthread_condattr_t monotonic;
	sigset_t all, before;
	int err;

	if (!s)
		return NULL;
	s->path = path;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigfillset(&all); /* the recorder's main thread handles signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = stack_start_thread(&s->thread, store_run_thread, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err)
		return s;
	free(s);
	return NULL;
}

static uint64_t text_count_lines(const char *text, size_t length)
{
	uint64_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += text[i] == '\n';
	return n;
}

/* Returns false if the queue is full or out of memory. */
static bool store_append(struct store *s, const char *text, size_t length)
{
	if (s->used + length > MAX_WAITING)
		return false;
	if (s->used + length > s->room) {
		size_t room = (s->used + length) * 2;
		char *more = memory_realloc(s->waiting, room);

		if (!more)
			return false;
		s->waiting = more;
		s->room = room;
	}
	memcpy(s->waiting + s->used, text, length);
	s->used += length;
	return true;
}

void store_put(struct store *s, const char *text, size_t length)
{
	pthread_mutex_lock(&s->lock);
	if (!s->has_failed) {
		bool was_empty = !s->used;

		if (!store_append(s, text, length))
			s->lost += text_count_lines(text, length);
		if (was_empty || s->used >= BATCH_BYTES)
			pthread_cond_signal(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
}

int64_t store_run(struct store *s)
{
	int64_t run;

	pthread_mutex_lock(&s->lock);
	run = s->run;
	pthread_mutex_unlock(&s->lock);
	return run;
}

const char *store_describe_failure(struct store *s, char *why, size_t size)
{
	bool is_well;

	pthread_mutex_lock(&s->lock);
	is_well = !s->has_failed && !s->lost;
	if (s->has_failed)
		snprintf(why, size, "%s", s->why);
	else if (s->lost)
		snprintf(why, size, "%llu lines are missing, because the disk was too slow",
			 (unsigned long long)s->lost);
	pthread_mutex_unlock(&s->lock);
	return is_well ? NULL : why;
}

void store_finish(struct store *s)
{
	struct timespec until = deadline_after(END_SECONDS * NSEC_PER_SEC);
	bool hangs = false;
	uint64_t lost = 0;

	pthread_mutex_lock(&s->lock);
	s->is_ending = true;
	pthread_cond_broadcast(&s->changed);
	while (!s->has_finished)
		if (pthread_cond_timedwait(&s->changed, &s->lock, &until))
			break;
	hangs = !s->has_finished && !s->has_failed;
	if (hangs) {
		s->has_failed = true;
		snprintf(s->why, sizeof(s->why),
			 "no response for %d s; the end of the run is missing", END_SECONDS);
	} else if (!s->has_failed) {
		lost = s->lost;
	}
	pthread_mutex_unlock(&s->lock);
	if (hangs)
		log_warn("the store '%s': %s", s->path, s->why);
	else if (lost)
		log_warn("the store '%s' was too slow: %llu lines of the run are missing there",
			 s->path, (unsigned long long)lost);
}

void store_free(struct store *s)
{
	bool has_finished;

	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	has_finished = s->has_finished;
	pthread_mutex_unlock(&s->lock);
	if (!has_finished) /* the thread hangs, and still uses the memory */
		return;
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s->waiting);
	free(s->batch);
	free(s);
}
