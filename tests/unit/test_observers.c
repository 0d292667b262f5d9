// SPDX-License-Identifier: BSD-2-Clause
/* Observers of a test's own beside a file, as the recorder runs them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/message.h"
#include "output_fixture.h"
#include "bpfmon/roles/observer.h"
#include "store_fixture.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define MOST_LINES 8
#define SHORT_NS (20 * NSEC_PER_MSEC)
#define PARSED RUN SAMPLE_1 PROCESS_1 SAMPLE_2
#define STREAM RUN SAMPLE_1 "not JSON\n" PROCESS_1 SAMPLE_2

enum hook { NONE, OPEN, BEGIN, LINE, FLUSH, END, CLOSE, NR_HOOKS };

/* What an observer of this test is to do, and what it was given. */
struct probe {
	enum hook fails_in;
	int error;    /* that it returns there */
	int waits_fd; /* each line waits for a reader of it; 0: none does */
	int calls[NR_HOOKS];
	int calls_after_failure; /* but for close */
	unsigned ended_as;       /* the how manieth */
	bool has_failed;
	char text[4096];
	size_t used;
	enum line_kind kinds[MOST_LINES];
	uint64_t elapsed_ns[MOST_LINES]; /* of samples */
	struct summary last;             /* its numbers alone */
};

struct world {
	struct place *place;
	struct probe probes[2];
	struct control answer; /* to the launcher */
	char *said;            /* on stderr */
	int err;
};

static struct world *world;
static unsigned ends;

static struct probe *probe_of(const struct observer *o)
{
	return &world->probes[o->target[0] == 'B'];
}

static int probe_call(const struct observer *o, enum hook hook)
{
	struct probe *p = probe_of(o);

	p->calls[hook]++;
	p->calls_after_failure += p->has_failed && hook != CLOSE;
	if (p->has_failed && hook == CLOSE)
		return p->error; /* not worth a second report */
	if (p->fails_in != hook || p->has_failed)
		return 0;
	p->has_failed = true;
	return p->error;
}

static int probe_open(struct observer *o, const struct recorder_options *options)
{
	(void)options;
	return probe_call(o, OPEN);
}

static int probe_begin(struct observer *o)
{
	return probe_call(o, BEGIN);
}

static int probe_line(struct observer *o, const struct line *l, const char *text, size_t length)
{
	struct probe *p = probe_of(o);
	const int nr = p->calls[LINE];

	assert_true(nr < MOST_LINES && p->used + length < sizeof(p->text));
	memcpy(p->text + p->used, text, length);
	p->used += length;
	p->kinds[nr] = l->kind;
	p->elapsed_ns[nr] = l->kind == LINE_SAMPLE ? l->sample.elapsed_ns : 0;
	if (l->kind == LINE_SUMMARY)
		p->last = l->summary;
	if (p->waits_fd) {
		p->calls[LINE]++;
		return patience_wait(o->patience, p->waits_fd, POLLIN);
	}
	return probe_call(o, LINE);
}

static int probe_flush(struct observer *o)
{
	return probe_call(o, FLUSH);
}

static int probe_end(struct observer *o, struct summary *total)
{
	assert_non_null(total);
	probe_of(o)->ended_as = ++ends;
	return probe_call(o, END);
}

static int probe_close(struct observer *o)
{
	return probe_call(o, CLOSE);
}

static const struct observer_ops probe_observer = {
	.name = "probe",
	.open = probe_open,
	.begin = probe_begin,
	.line = probe_line,
	.flush = probe_flush,
	.end = probe_end,
	.close = probe_close,
};

static int world_make(void **state)
{
	ends = 0;
	*state = world = calloc(1, sizeof(*world));
	return place_make((void **)&world->place);
}

static int world_remove(void **state)
{
	void *place = world->place;

	free(world->said);
	free(*state);
	return place_remove(&place);
}

/* Probe A, a file and probe B, in this order. */
static struct recorder_options options_of(struct world *w)
{
	return (struct recorder_options){
		.nr_outputs = 3,
		.quiet = true,
		.outputs = { { .format = &probe_observer, .path = "A" },
			     { .format = &jsonl_observer, .path = w->place->path },
			     { .format = &probe_observer, .path = "B" } },
	};
}

/* Runs the recorder over @stream, which ends as when the collector does; keeps what it says. */
static void record(struct world *w, const char *stream, struct recorder_options *o)
{
	char path[128];
	int control[2], pipe_fd[2], old = dup(STDERR_FILENO), said;

	snprintf(path, sizeof(path), "%s/said", w->place->dir);
	said = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(said >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
	assert_int_equal(pipe(pipe_fd), 0);
	assert_int_equal(write(pipe_fd[1], stream, strlen(stream)), strlen(stream));
	close(pipe_fd[1]);
	o->control_fd = control[0];
	o->stream_fd = pipe_fd[0];
	dup2(said, STDERR_FILENO);
	w->err = recorder_run(o);
	dup2(old, STDERR_FILENO);
	assert_int_equal(control_receive(control[1], &w->answer), 1);
	close(old);
	close(said);
	close(control[0]);
	close(control[1]);
	close(pipe_fd[0]);
	free(w->said);
	w->said = file_read(path);
}

static void assert_whole(const struct probe *p, const struct world *w)
{
	static const enum line_kind kinds[] = { LINE_META, LINE_SAMPLE, LINE_PROCESS, LINE_SAMPLE,
						LINE_SUMMARY };
	char *text = file_read(w->place->path);

	assert_int_equal(p->calls[OPEN], 1);
	assert_int_equal(p->calls[BEGIN], 1);
	assert_int_equal(p->calls[LINE], 5);
	assert_memory_equal(p->kinds, kinds, sizeof(kinds));
	assert_int_equal(p->elapsed_ns[1], NSEC_PER_SEC);
	assert_int_equal(p->elapsed_ns[3], 2 * NSEC_PER_SEC);
	assert_memory_equal(p->text, PARSED, strlen(PARSED));
	assert_string_equal(p->text, text); /* the file is another observer */
	assert_true(p->calls[FLUSH] > 0);
	assert_int_equal(p->calls[END], 1);
	assert_int_equal(p->calls[CLOSE], 1);
	free(text);
}

static void observer_gets_each_line_in_order_as_it_came_and_parsed(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);

	record(w, STREAM SUMMARY, &o);
	assert_int_equal(w->err, 0);
	assert_int_equal(w->answer.type, CONTROL_READY);
	assert_whole(&w->probes[0], w);
	assert_whole(&w->probes[1], w);
	assert_true(w->probes[0].last.complete);
	assert_string_equal(w->said, "");
}

static void run_that_is_cut_off_ends_with_a_summary_for_every_observer(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);

	record(w, STREAM, &o);
	assert_int_equal(w->err, 0);
	for (int i = 0; i < 2; i++) {
		assert_whole(&w->probes[i], w);
		assert_false(w->probes[i].last.complete);
		assert_int_equal(w->probes[i].last.samples, 2);
		assert_non_null(strstr(w->probes[i].text, "the collector was killed"));
	}
}

static void run_that_never_began_is_only_closed(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);

	record(w, "", &o);
	assert_int_equal(w->err, 0);
	assert_int_equal(w->probes[0].calls[OPEN], 1);
	assert_int_equal(w->probes[0].calls[BEGIN], 0);
	assert_int_equal(w->probes[0].calls[LINE], 0);
	assert_int_equal(w->probes[0].calls[END], 0);
	assert_int_equal(w->probes[0].calls[CLOSE], 1);
}

static void observer_that_was_opened_last_ends_first(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);

	record(w, STREAM SUMMARY, &o);
	assert_int_equal(w->probes[1].ended_as, 1);
	assert_int_equal(w->probes[0].ended_as, 2);
}

static int count_words(const char *text, const char *word)
{
	int n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

/* In each hook in turn: the first of three fails, the others are as if it were not there. */
static void observer_that_fails_is_reported_once_and_dropped_alone(void **state)
{
	struct world *w = *state;
	struct probe *bad = &w->probes[0];

	for (enum hook hook = BEGIN; hook <= CLOSE; hook++) {
		struct recorder_options o = options_of(w);

		memset(w->probes, 0, sizeof(w->probes));
		bad->fails_in = hook;
		bad->error = -EIO;
		o.force = true;
		record(w, STREAM SUMMARY, &o);
		assert_int_equal(w->err, 0);
		assert_true(bad->has_failed);
		assert_int_equal(bad->calls_after_failure, 0);
		assert_int_equal(bad->calls[hook], 1);
		assert_int_equal(bad->calls[CLOSE], 1);
		assert_whole(&w->probes[1], w);
		assert_int_equal(count_words(w->said, "'A'"), 1);
		assert_int_equal(count_words(w->said, "Input/output error"), 1);
		assert_int_equal(count_words(w->said, "\n"), 1);
	}
}

static void observer_that_is_skipped_takes_no_part(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);

	w->probes[0].fails_in = OPEN;
	w->probes[0].error = OBSERVER_SKIPPED;
	record(w, STREAM SUMMARY, &o);
	assert_int_equal(w->err, 0);
	assert_int_equal(w->probes[0].calls_after_failure, 0);
	assert_int_equal(w->probes[0].calls[CLOSE], 0);
	assert_whole(&w->probes[1], w);
}

static void observer_that_cannot_be_opened_refuses_the_run(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);

	w->probes[1].fails_in = OPEN;
	w->probes[1].error = -ENOMEM;
	record(w, STREAM SUMMARY, &o);
	assert_int_equal(w->err, -ENOMEM);
	assert_int_equal(w->answer.type, CONTROL_FAILED);
	assert_int_equal(w->probes[0].calls[LINE], 0);
	assert_int_equal(w->probes[0].calls[CLOSE], 1);
	assert_int_equal(w->probes[1].calls[CLOSE], 0);
	assert_int_equal(access(w->place->path, F_OK), -1);
}

/* A has a reader that never comes, and a launcher that has ended. */
static void observer_that_waits_is_given_up_as_an_output_is(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);
	struct patience patience = { .watched_fd = -1, .limit_ns = SHORT_NS };
	struct observers s = { 0 };
	struct line l = { 0 };
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int never[2];

	assert_int_equal(pipe2(never, O_CLOEXEC), 0);
	w->probes[0].waits_fd = never[0];
	assert_int_equal(observers_open(&s, &o, &patience), 0);
	observers_begin(&s);
	assert_int_equal(line_read(&l, RUN, strlen(RUN)), 0);
	for (int i = 0; i < 3; i++)
		observers_line(&s, &l, RUN, strlen(RUN));
	assert_true(clock_ns(CLOCK_MONOTONIC) - began_ns >= SHORT_NS);
	assert_true(patience.is_spent);
	assert_int_equal(w->probes[0].calls[LINE], 1);
	assert_int_equal(w->probes[1].calls[LINE], 3);
	observers_flush(&s);
	observers_close(&s);
	assert_file(w->place->path, RUN RUN RUN);
	line_done(&l);
	close(never[0]);
	close(never[1]);
}

static void summary_on_the_terminal_says_where_the_store_has_the_run(void **state)
{
	struct world *w = *state;
	struct recorder_options o = options_of(w);
	char path[128];

	snprintf(path, sizeof(path), "%s/store", w->place->dir);
	o.store = path;
	o.quiet = false;
	record(w, STREAM SUMMARY, &o);
	assert_non_null(strstr(w->said, "saved       as run 1: bpfmon show 1\n"));
	assert_int_equal(ask(path, "SELECT count(*) FROM sample"), 2);
	assert_whole(&w->probes[0], w);
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_make, world_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(observer_gets_each_line_in_order_as_it_came_and_parsed),
		WORLD_TEST(run_that_is_cut_off_ends_with_a_summary_for_every_observer),
		WORLD_TEST(run_that_never_began_is_only_closed),
		WORLD_TEST(observer_that_was_opened_last_ends_first),
		WORLD_TEST(observer_that_fails_is_reported_once_and_dropped_alone),
		WORLD_TEST(observer_that_is_skipped_takes_no_part),
		WORLD_TEST(observer_that_cannot_be_opened_refuses_the_run),
		WORLD_TEST(observer_that_waits_is_given_up_as_an_output_is),
		WORLD_TEST(summary_on_the_terminal_says_where_the_store_has_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
