// SPDX-License-Identifier: BSD-2-Clause
/* What the recorder sends the launcher for the status line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/message.h"
#include "bpfmon/roles/observer.h"
#include "bpfmon/roles/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct live_run {
	int launcher, recorder; /* both ends */
	struct observer observer;
	struct line line;
};

static void lines_give(struct live_run *r, const char *text)
{
	assert_int_equal(line_read(&r->line, text, strlen(text)), 0);
	assert_int_equal(live_observer.line(&r->observer, &r->line, text, strlen(text)), 0);
}

static int live_run_begin(void **state)
{
	struct live_run *r = calloc(1, sizeof(*r));
	struct recorder_options options = { .live = true };
	int fd[2];

	*state = r;
	setenv("COLUMNS", "200", 1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd))
		return -1;
	r->launcher = fd[0];
	r->recorder = fd[1];
	options.control_fd = fd[1];
	r->observer.ops = &live_observer;
	r->observer.own = calloc(1, live_observer.own_bytes);
	live_observer.open(&r->observer, &options);
	lines_give(
		r,
		"{\"kind\":\"meta\",\"system\":{\"cpus\":8},\"limits\":{\"cpu_max_cores\":2}}\n");
	return 0;
}

static int live_run_end(void **state)
{
	struct live_run *r = *state;

	live_observer.close(&r->observer);
	free(r->observer.own);
	line_done(&r->line);
	close(r->launcher);
	close(r->recorder);
	free(r);
	return 0;
}

static void sample_give(struct live_run *r, double elapsed, double cpu, unsigned rss)
{
	char text[300];

	snprintf(text, sizeof(text),
		 "{\"kind\":\"sample\",\"elapsed_seconds\":%.3f,\"cpu_seconds\":%.3f,\"rss_bytes\":"
		 "%u,"
		 "\"read_bytes\":0,\"write_bytes\":0,\"processes\":2}\n",
		 elapsed, cpu, rss);
	lines_give(r, text);
}

static void assert_sent(struct live_run *r, const char *expected)
{
	struct control c;

	assert_int_equal(control_receive(r->launcher, &c), 1);
	assert_int_equal(c.type, CONTROL_LIVE);
	assert_string_equal(c.text, expected);
}

static void assert_nothing_sent(struct live_run *r)
{
	struct control c;

	assert_true(control_receive(r->launcher, &c) < 0);
}

static void fast_samples_make_one_line_a_second(void **state)
{
	struct live_run *r = *state;

	for (int i = 0; i < 200; i++)
		sample_give(r, i / 100.0, i / 100.0, 9);
	assert_sent(r, "bpfmon 1 s  1.0 of 2 cores  9 B  peak 9 B  I/O 0 B/s  2 processes");
	assert_nothing_sent(r);
}

static void cores_are_those_since_the_last_line(void **state)
{
	struct live_run *r = *state;

	sample_give(r, 1, 0.5, 500);
	assert_sent(r, "bpfmon 1 s  0.5 of 2 cores  500 B  peak 500 B  I/O 0 B/s  2 processes");
	sample_give(r, 1.5, 2, 900);
	sample_give(r, 3, 3.5, 700);
	assert_sent(r, "bpfmon 3 s  1.5 of 2 cores  700 B  peak 900 B  I/O 0 B/s  2 processes");
}

static void last_mark_is_the_phase(void **state)
{
	struct live_run *r = *state;

	lines_give(
		r,
		"{\"kind\":\"event\",\"event\":\"mark\",\"elapsed_seconds\":0.1,\"text\":\"a\"}\n");
	lines_give(
		r,
		"{\"kind\":\"event\",\"event\":\"mark\",\"elapsed_seconds\":0.2,\"text\":\"b\"}\n");
	sample_give(r, 1, 1, 9);
	assert_sent(r, "bpfmon 1 s  1.0 of 2 cores  9 B  peak 9 B  I/O 0 B/s  2 processes  b");
}

static void stalled_run_is_shown_at_once_and_until_it_resumes(void **state)
{
	struct live_run *r = *state;

	sample_give(r, 1, 0, 9);
	assert_sent(r, "bpfmon 1 s  0.0 of 2 cores  9 B  peak 9 B  I/O 0 B/s  2 processes");
	lines_give(r, "{\"kind\":\"event\",\"event\":\"stalled\",\"elapsed_seconds\":1.5}\n");
	assert_sent(r,
		    "bpfmon 1 s  stalled  0.0 of 2 cores  9 B  peak 9 B  I/O 0 B/s  2 processes");
	lines_give(r, "{\"kind\":\"event\",\"event\":\"resumed\",\"elapsed_seconds\":1.6}\n");
	assert_sent(r, "bpfmon 1 s  0.0 of 2 cores  9 B  peak 9 B  I/O 0 B/s  2 processes");
}

static void end_of_the_run_takes_the_line_away(void **state)
{
	struct live_run *r = *state;
	struct summary total = { 0 };

	live_observer.end(&r->observer, &total);
	assert_sent(r, "");
}

static void launcher_that_reads_nothing_stops_nothing(void **state)
{
	struct live_run *r = *state;

	for (int i = 1; i < 2000; i++)
		sample_give(r, i, i, 9);
	assert_sent(r, "bpfmon 1 s  1.0 of 2 cores  9 B  peak 9 B  I/O 0 B/s  2 processes");
}

#define LIVE_TEST(test) cmocka_unit_test_setup_teardown(test, live_run_begin, live_run_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIVE_TEST(fast_samples_make_one_line_a_second),
		LIVE_TEST(cores_are_those_since_the_last_line),
		LIVE_TEST(last_mark_is_the_phase),
		LIVE_TEST(stalled_run_is_shown_at_once_and_until_it_resumes),
		LIVE_TEST(end_of_the_run_takes_the_line_away),
		LIVE_TEST(launcher_that_reads_nothing_stops_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
