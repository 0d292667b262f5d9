// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/roles/recorder.h"

#include "base/message.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/memory.h"
#include "base/oom.h"
#include "base/stack.h"
#include "bpfmon/roles/observer.h"
#include "text/summary_lines.h"
#include "waits/waits.h"
#include "run/limit.h"
#include "run/metric.h"
#include "run/reader.h"
#include "run/writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The reason of a stall is what its processes wait for when the event comes. */

#define MAX_PIDS 64 /* as many as a collector names */

static const struct timespec second_look = { .tv_nsec = 100000000 };

static bool line_is_stall(const struct line *l)
{
	const char *event = json_string_value(json_object_get(l->tree, "event"));

	return l->kind == LINE_EVENT && event && !strcmp(event, "stalled");
}

static const char *stall_reason_of(const struct line *l)
{
	const char *reason = json_string_value(json_object_get(l->tree, "reason"));

	return reason ? reason : "";
}

static bool pids_are_idle(const json_t *list)
{
	int32_t pids[MAX_PIDS];
	const json_t *pid;
	size_t i, nr = 0;

	json_array_foreach(list, i, pid)
		if (nr < MAX_PIDS)
			pids[nr++] = (int32_t)json_integer_value(pid);
	if (processes_are_idle(pids, nr))
		return true;
	nanosleep(&second_look, NULL); /* a first look may hit a server at a page fault */
	return processes_are_idle(pids, nr);
}

/*
 * Returns whether a line is to be recorded: false for a stall of an idle server, for a repeated
 * stall event (a collector repeats it in case something hangs by now), and for the end of a stall
 * that was not recorded. *@is_known: a stall was recorded, but not its end.
 */
static bool stall_is_new(const struct line *l, bool *is_known)
{
	const char *event = json_string_value(json_object_get(l->tree, "event"));
	bool was_known = *is_known;

	if (l->kind != LINE_EVENT || !event)
		return true;
	if (!strcmp(event, "resumed")) {
		*is_known = false;
		return was_known;
	}
	if (strcmp(event, "stalled") != 0)
		return true;
	*is_known = was_known || !pids_are_idle(json_object_get(l->tree, "pids"));
	return *is_known && !was_known;
}

struct stall_texts {
	char reason[WAIT_TEXT], cause[WAIT_TEXT];
};

static bool wait_reason_find(struct waits *w, const json_t *pids, struct stall_texts *t)
{
	struct wait_reason reason;
	const json_t *pid;
	size_t i;

	json_array_foreach(pids, i, pid)
		if (json_integer_value(pid) > 0)
			waits_add(w, (pid_t)json_integer_value(pid), 0);
	if (!waits_number(w) || waits_read(w, true))
		return false;
	waits_reason(w, &reason);
	if (!waits_cause_is_known(w, &reason))
		return false;
	waits_reason_text(w, &reason, t->reason, sizeof(t->reason));
	waits_cause_text(w, &reason, t->cause, sizeof(t->cause));
	return *t->reason;
}

/* Length of @text up to the brace that ends the object. */
static size_t line_members(const char *text, size_t length)
{
	while (length && text[length - 1] != '}')
		length--;
	return length ? length - 1 : 0;
}

/*
 * Writes into @j the line @text, parsed as @l, with the "reason" and its short form "cause" that
 * the rights of this process permit to find. Returns false if it is not a stall event, or no reason
 * is found.
 */
static bool stall_reason_write(struct jsonw *j, const struct line *l, const char *text,
			       size_t length)
{
	struct waits *w = line_is_stall(l) ? waits_new() : NULL;
	size_t members = line_members(text, length);
	struct stall_texts t;
	bool is_found = w && members && wait_reason_find(w, json_object_get(l->tree, "pids"), &t);

	waits_free(w);
	if (!is_found)
		return false;
	jsonw_raw(j, text, members);
	jsonw_raw(j, ",\"reason\":", strlen(",\"reason\":"));
	jsonw_string(j, NULL, t.reason);
	jsonw_string(j, "cause", t.cause);
	jsonw_object_end(j);
	jsonw_newline(j);
	return !j->failed;
}

#define READ_BYTES (64UL << 10)

static const char out_of_memory[] = "the recorder ran out of memory; lines are missing";

struct recorder {
	struct observers observers;
	const struct event_command *on_stall, *on_limit; /* not owned */
	const struct asked_options *asked;               /* not owned */
	struct line line;
	struct summary folded; /* from the lines so far, in case no summary arrives */
	bool has_begun, has_summary, is_of_agent;
	bool is_stalled; /* a stall was recorded, but not its end */
	uint64_t lost;   /* lines that were not parsed for lack of memory */
	char *text;      /* owned; received, not yet parsed */
	size_t used, room;
	struct patience with_readers,
		with_collector; /* limits that begin with the launcher's end */
};

/*
 * Marks the collector's summary as incomplete because lines were lost. Returns false, losing it as
 * well, if out of memory.
 */
static bool recorder_add_lost(struct recorder *r, struct jsonw *j)
{
	struct summary *s = &r->line.summary;

	s->complete = false;
	snprintf(s->reason, sizeof(s->reason), "%s", out_of_memory);
	write_summary(j, s);
	return !j->failed;
}

static void recorder_end_observers(struct recorder *r)
{
	observers_flush(&r->observers); /* before the end of the store, which may take seconds */
	observers_end(&r->observers, &r->line.summary);
}

#define TEXT_BYTES 1024

/*
 * Requests the process of the command to execute it once, with @text in its variable; never waits.
 */
static void event_command_execute(const struct event_command *c, const char *text)
{
	char message[TEXT_BYTES];
	size_t n = strnlen(text, sizeof(message) - 1);

	if (!c->command || c->fd < 0)
		return;
	memcpy(message, text, n);
	message[n] = ' ';
	send(c->fd, message, n + 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Without memory for the whole text, passes that of the limit. */
static void recorder_note_limit(struct recorder *r)
{
	const char *event = line_get_event(&r->line);
	struct limit_hit hit;
	char *text;

	if (!event || strcmp(event, "limit") != 0 || !limit_hit_read(&hit, r->line.tree))
		return;
	text = limit_text_make(&hit);
	event_command_execute(r->on_limit, text ? text : hit.text);
	free(text);
}

void asked_add(struct asked_options *asked, const char *name, const char *source)
{
	assert(asked->nr < MAX_ASKED);
	asked->list[asked->nr++] = (struct asked_option){ name, source };
}

/*
 * Returns the reason why no metric that @source selects is available, or NULL if one is, or none is
 * wanted.
 */
static const char *source_why_missing(const char *source, const json_t *capabilities)
{
	const char *why = NULL;

	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);
		const char *option = metric_source_get(m->source)->option;
		const json_t *said = json_object_get(capabilities, m->key);
		const char *reason = json_string_value(json_object_get(said, "reason"));

		if (!option || strcmp(option, source) != 0 || !said)
			continue;
		if (json_is_true(json_object_get(said, "available")))
			return NULL;
		if (!why)
			why = reason ? reason : "its metrics are not available";
	}
	return why;
}

/*
 * Warns about each option of which the meta line of the run, @meta, says that no metric is
 * available, with the reason.
 */
static void asked_check(const struct asked_options *asked, const json_t *meta)
{
	const json_t *capabilities = json_object_get(meta, "capabilities");

	for (size_t i = 0; i < asked->nr; i++) {
		const char *why = source_why_missing(asked->list[i].source, capabilities);

		if (why)
			log_warn("%s has no effect: %s", asked->list[i].name, why);
	}
}

static void recorder_give_line(struct recorder *r, const char *text, size_t length)
{
	if (!r->has_begun) {
		r->has_begun = true;
		observers_begin(&r->observers);
	}
	observers_line(&r->observers, &r->line, text, length);
	if (r->line.kind == LINE_META)
		asked_check(r->asked, r->line.tree);
	if (line_is_stall(&r->line))
		event_command_execute(r->on_stall, stall_reason_of(&r->line));
	else if (r->on_limit->command)
		recorder_note_limit(r);
	if (r->line.kind == LINE_SAMPLE)
		summary_add_sample(&r->folded, &r->line.sample);
	else if (r->line.kind == LINE_PROCESS)
		summary_add_process(&r->folded, &r->line.process);
	if (r->line.kind == LINE_SUMMARY) {
		r->has_summary = true;
		recorder_end_observers(r);
	}
}

/* Adds the reason to the event of a stall, if found, and parses the new line. */
static bool recorder_add_reason(struct recorder *r, struct jsonw *j, const char *text,
				size_t length)
{
	return stall_reason_write(j, &r->line, text, length) &&
	       !line_read(&r->line, j->text, j->used);
}

static void recorder_take_line(struct recorder *r, const char *text, size_t length)
{
	int err = line_read_quick(&r->line, text, length);
	struct jsonw j = { 0 };
	bool is_other;

	if (err) {
		r->lost += err == -ENOMEM;
		return;
	}
	if (!stall_is_new(&r->line, &r->is_stalled))
		return;
	if (r->line.kind == LINE_SUMMARY && r->lost)
		is_other = recorder_add_lost(r, &j);
	else
		is_other = recorder_add_reason(r, &j, text, length);
	if (is_other)
		recorder_give_line(r, j.text, j.used);
	else if (r->line.kind != LINE_SUMMARY || !r->lost)
		recorder_give_line(r, text, length);
	jsonw_done(&j);
}

static void recorder_take_lines(struct recorder *r)
{
	char *at = r->text, *stop = r->text + r->used, *newline;

	while ((newline = memchr(at, '\n', (size_t)(stop - at)))) {
		recorder_take_line(r, at, (size_t)(newline + 1 - at));
		at = newline + 1;
	}
	r->used = (size_t)(stop - at);
	memmove(r->text, at, r->used);
	observers_flush(&r->observers);
}

static int recorder_make_room(struct recorder *r)
{
	size_t room = r->used + READ_BYTES * 2;
	char *text;

	if (r->used + READ_BYTES <= r->room)
		return 0;
	text = memory_realloc(r->text, room);
	if (!text)
		return -ENOMEM;
	r->text = text;
	r->room = room;
	return 0;
}

/* Returns 1 if text was received, 0 at the end of the stream, or a negative errno. */
static int recorder_read(struct recorder *r, int fd)
{
	int err = recorder_make_room(r);
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

/* Makes the summary that the collector did not write from the received lines. */
static void recorder_make_summary(struct recorder *r)
{
	struct summary *s = &r->line.summary;

	summary_done(s);
	*s = r->folded;
	r->folded = (struct summary){ 0 };
	r->line.kind = LINE_SUMMARY;
	s->complete = false;
	if (memory_failures_of_thread())
		snprintf(s->reason, sizeof(s->reason), "%s", out_of_memory);
	else
		snprintf(s->reason, sizeof(s->reason), "the %s%s: the recorded data ends there",
			 r->is_of_agent ? "agent ended or hangs" : "collector was killed",
			 r->is_of_agent ? "" : oom_count_text());
	summary_finish(s);
}

static void recorder_complete_run(struct recorder *r)
{
	struct jsonw j = { 0 };

	if (!r->has_begun || r->has_summary)
		return;
	recorder_make_summary(r);
	write_summary(&j, &r->line.summary);
	if (!j.failed)
		observers_line(&r->observers, &r->line, j.text, j.used);
	jsonw_done(&j);
	recorder_end_observers(r);
	observers_flush(&r->observers);
}

static struct recorder *recorder_make(int control_fd)
{
	struct recorder *r = memory_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->with_readers =
		(struct patience){ .watched_fd = control_fd, .limit_ns = PATIENCE_WITH_READER_NS };
	r->with_collector = (struct patience){ .watched_fd = control_fd,
					       .limit_ns = PATIENCE_WITH_COLLECTOR_NS };
	return r;
}

static int recorder_open(struct recorder *r, const struct recorder_options *o)
{
	if (!r || recorder_make_room(r) || memory_failures_of_thread())
		return -ENOMEM;
	r->is_of_agent = o->is_of_agent;
	r->on_stall = &o->on_stall;
	r->on_limit = &o->on_limit;
	r->asked = &o->asked;
	return observers_open(&r->observers, o, &r->with_readers);
}

/*
 * Records until the end of the stream. Reports errors itself, as the collector, which may have sent
 * everything, does not notice them.
 */
static void recorder_record(struct recorder *r, int stream_fd)
{
	int got;

	while ((got = recorder_read(r, stream_fd)) > 0)
		recorder_take_lines(r);
	if (got < 0 && got != -ETIMEDOUT && got != -ENOMEM)
		log_warn("the recorder cannot read from the collector: %s; lines are missing",
			 strerror(-got));
	recorder_complete_run(r);
}

int recorder_run(const struct recorder_options *o)
{
	struct recorder *r = recorder_make(o->control_fd);
	int err = recorder_open(r, o);

	if (err == -ENOMEM)
		control_send(o->control_fd, CONTROL_FAILED, err, 0,
			     "the recorder is out of memory; the command was not run");
	if (!err) /* a launcher that does not receive it would wait for ever */
		err = control_send(o->control_fd, CONTROL_READY, 0, 0, NULL);
	if (!err)
		recorder_record(r, o->stream_fd);
	if (r)
		observers_close(&r->observers);
	if (!err && log_has_unreported_failure())
		log_warn("the recorder failed to allocate memory %zu times; %llu lines were lost",
			 memory_failures(), r ? (unsigned long long)r->lost : 0);
	if (r) {
		line_done(&r->line);
		summary_done(&r->folded);
		free(r->text);
	}
	free(r);
	return err;
}

/*
 * Runs in a normal environment: with the rights of the recorder, but not its ignored and blocked
 * signals.
 */
static void command_become(const struct event_command *c, const char *text)
{
	signals_reset();
	setenv(c->variable, text, 1);
	stack_restore_limit();
	execl("/bin/sh", "sh", "-c", c->command, (char *)NULL);
	_exit(127);
}

static void command_run(const struct event_command *c, const char *text)
{
	pid_t pid = fork();

	if (!pid)
		command_become(c, text);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Closes all but @fd and the descriptors for output, so that no process waits for their end. */
static void descriptors_reduce(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (fd > STDERR_FILENO + 1)
		syscall(SYS_close_range, STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	syscall(SYS_close_range, (unsigned)fd + 1, ~0U, 0);
}

static void events_serve(int fd, const struct event_command *c)
{
	char text[TEXT_BYTES];
	ssize_t n;

	descriptors_reduce(fd);
	while ((n = recv(fd, text, sizeof(text) - 1, 0)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		text[n - 1] = '\0'; /* a blank, which keeps the message of an empty text from having
				       0 bytes */
		command_run(c, text);
	}
	_exit(0);
}

static int event_command_fork(const struct event_command *c)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	pid = fork();
	if (!pid) {
		close(fds[0]);
		events_serve(fds[1], c);
	}
	close(fds[1]);
	if (pid > 0)
		return fds[0];
	close(fds[0]);
	return -errno;
}

void event_command_start(struct event_command *c)
{
	int fd = c->command ? event_command_fork(c) : -1;

	c->fd = fd < 0 ? -1 : fd;
	if (c->command && fd < 0)
		log_warn("--%s: cannot start the process that runs the command: %s", c->option,
			 strerror(-fd));
}
