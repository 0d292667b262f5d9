// SPDX-License-Identifier: BSD-2-Clause
#include "record/recorder.h"

#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "record/outputs.h"
#include "record/store/store.h"
#include "wire/writer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES (64UL << 10)

static const char out_of_memory[] = "the recorder ran out of memory: lines are missing";

struct recorder {
	struct outputs outputs;
	struct store *store; /* owned; NULL: none */
	struct line line;
	struct summary folded; /* what the run comes to should its summary not arrive */
	bool has_begun, has_summary;
	uint64_t lost; /* lines that there was no memory to read */
	char *text;    /* owned; what has come of the next lines */
	size_t used, room;
	struct patience with_readers, with_collector; /* both end some time after the launcher */
};

/* Before the summary is shown, so that it can say where the run is, or that it is nowhere. */
static void finish_store(struct recorder *r, struct summary *total)
{
	if (!r->store)
		return;
	outputs_flush(&r->outputs); /* the store may take its time */
	store_finish(r->store);
	if (!store_trouble(r->store, total->not_kept, sizeof(total->not_kept)))
		total->kept_as = store_run(r->store);
}

static void end(struct recorder *r, struct summary *total)
{
	finish_store(r, total);
	for (size_t i = 0; i < r->outputs.nr; i++)
		if (r->outputs.observers[i].ops->end)
			r->outputs.observers[i].ops->end(&r->outputs.observers[i], total);
}

/* The summary is the collector's, which does not know of them. False: it is lost, too. */
static bool add_lost(struct recorder *r, struct json *j)
{
	struct summary *s = &r->line.summary;

	s->complete = false;
	snprintf(s->reason, sizeof(s->reason), "%s", out_of_memory);
	write_summary(j, s);
	return !j->failed;
}

static void put_line(struct recorder *r, const char *text, size_t length)
{
	if (!r->has_begun) {
		r->has_begun = true;
		outputs_commit(&r->outputs);
	}
	for (size_t i = 0; i < r->outputs.nr; i++)
		if (r->outputs.observers[i].ops->line)
			r->outputs.observers[i].ops->line(&r->outputs.observers[i], &r->line, text,
							  length);
	if (r->store)
		store_put(r->store, text, length);
	if (r->line.kind == LINE_SAMPLE)
		summary_add_sample(&r->folded, &r->line.sample);
	else if (r->line.kind == LINE_PROCESS)
		summary_add_process(&r->folded, &r->line.process);
	if (r->line.kind == LINE_SUMMARY) {
		r->has_summary = true;
		end(r, &r->line.summary);
	}
}

static void take_line(struct recorder *r, const char *text, size_t length)
{
	int err = line_read(&r->line, text, length);
	struct json j = { 0 };

	if (err) {
		r->lost += err == -ENOMEM;
		return;
	}
	if (r->line.kind != LINE_SUMMARY || !r->lost)
		put_line(r, text, length);
	else if (add_lost(r, &j))
		put_line(r, j.text, j.used);
	jw_done(&j);
}

static void take_lines(struct recorder *r)
{
	char *at = r->text, *stop = r->text + r->used, *newline;

	while ((newline = memchr(at, '\n', (size_t)(stop - at)))) {
		take_line(r, at, (size_t)(newline + 1 - at));
		at = newline + 1;
	}
	r->used = (size_t)(stop - at);
	memmove(r->text, at, r->used);
	outputs_flush(&r->outputs);
}

/* To read more into. */
static int make_room(struct recorder *r)
{
	size_t room = r->used + READ_BYTES * 2;
	char *text;

	if (r->used + READ_BYTES <= r->room)
		return 0;
	text = realloc(r->text, room);
	if (!text)
		return -ENOMEM;
	r->text = text;
	r->room = room;
	return 0;
}

/* 1: something came; 0: the end; else a negative errno. */
static int receive(struct recorder *r, int fd)
{
	int err = make_room(r);
	ssize_t n;

	if (!err)
		err = patience_wait(&r->with_collector, fd, POLLIN);
	if (err)
		return err;
	n = read(fd, r->text + r->used, r->room - r->used);
	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	r->used += (size_t)n;
	return n > 0;
}

static void close_run(struct recorder *r)
{
	struct summary *s = &r->folded;
	struct json j = { 0 };

	if (!r->has_begun || r->has_summary)
		return;
	s->complete = false;
	snprintf(s->reason, sizeof(s->reason), "%s",
		 memory_failures_of_thread() ? out_of_memory
					     : "the collector was killed: the account ends there");
	summary_finish(s);
	write_summary(&j, s);
	if (r->store && !j.failed)
		store_put(r->store, j.text, j.used);
	jw_done(&j);
	end(r, s);
	outputs_flush(&r->outputs);
}

static void start_store(struct recorder *r, const char *path)
{
	r->store = store_start(path);
	if (r->store)
		log_info("the run is kept in the store '%s'", path);
	else
		log_warn("the run is not kept in the store '%s': %s", path, strerror(ENOMEM));
}

static struct recorder *recorder_make(int control_fd)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->with_readers =
		(struct patience){ .watched_fd = control_fd, .limit_ns = PATIENCE_WITH_READER_NS };
	r->with_collector = (struct patience){ .watched_fd = control_fd,
					       .limit_ns = PATIENCE_WITH_COLLECTOR_NS };
	return r;
}

int recorder_run(const struct recorder_options *o)
{
	struct recorder *r = recorder_make(o->control_fd);
	int err = r ? outputs_open(&r->outputs, o, &r->with_readers) : -ENOMEM;

	if (!err && (make_room(r) || memory_failures_of_thread()))
		err = -ENOMEM;
	if (err == -ENOMEM)
		control_send(o->control_fd, CONTROL_FAILED, err, 0,
			     "the recorder is out of memory; nothing was run");
	if (!err && o->store)
		start_store(r, o->store);
	if (!err) /* a launcher that does not get it would wait for ever, and so would we */
		err = control_send(o->control_fd, CONTROL_READY, 0, 0, NULL);
	if (!err) {
		while (receive(r, o->stream_fd) > 0)
			take_lines(r);
		close_run(r);
	}
	if (r)
		outputs_close(&r->outputs);
	if (!err && log_owes_memory())
		log_warn("the recorder failed to allocate memory %zu times; %llu lines were lost",
			 memory_failures(), r ? (unsigned long long)r->lost : 0);
	if (r) {
		store_free(r->store);
		line_done(&r->line);
		summary_done(&r->folded);
		free(r->text);
	}
	free(r);
	return err;
}
