// SPDX-License-Identifier: BSD-2-Clause
/* The request for a job: what is written is read back; what a hostile client sends is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "request_fixture.h"

#include <errno.h>
#include <stdlib.h>

#define HEAD "{\"kind\":\"hello\",\"version\":1,\"follow\":\"command\",\"metrics\":[\"rss_bytes\"],"
#define TIME "\"interval_ns\":1000000000,"
#define TWO "\"descriptors\":[\"stream\",\"process\"]}"

static struct request request;
static char why[200];

/* With @nr descriptors from 1001 on, none of which is open. */
static int read_text(const char *text, size_t nr)
{
	int fds[REQUEST_FDS];

	for (size_t i = 0; i < REQUEST_FDS; i++)
		fds[i] = 1001 + (int)i;
	return request_read(&request, text, strlen(text), fds, nr, why, sizeof(why));
}

static void assert_refused(const char *text, size_t nr, const char *because)
{
	assert_int_equal(read_text(text, nr), -EBADMSG);
	if (!strstr(why, because))
		fail_msg("'%s' instead of '%s'", why, because);
	assert_int_equal(request.stream_fd, -1);
	assert_int_equal(request.nr_pids, 0);
}

static void what_is_written_is_read_back(void **state)
{
	struct request before;
	struct jsonw j = { 0 };
	int fds[REQUEST_FDS];
	size_t nr;

	(void)state;
	fixture_request(&before);
	request_write(&j, &before);
	assert_false(j.failed);
	nr = request_fds(&before, fds);
	assert_int_equal(nr, 7);
	assert_int_equal(request_read(&request, j.text, j.used, fds, nr, why, sizeof(why)), 0);
	assert_memory_equal(&request, &before, sizeof(before));
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(fds[i], -1);
	jsonw_done(&j);
}

static void the_largest_request_is_within_its_limit(void **state)
{
	struct request r;
	struct jsonw j = { 0 };
	int fds[REQUEST_FDS];

	(void)state;
	fixture_request(&r);
	r.follow = FOLLOW_PROCESSES;
	metric_set_all(&r.wanted);
	for (r.nr_pids = 0; r.nr_pids < REQUEST_PROCESSES; r.nr_pids++)
		r.pid_fds[r.nr_pids] = 2000 + (int)r.nr_pids;
	request_write(&j, &r);
	assert_true(j.used < REQUEST_BYTES / 4);
	assert_int_equal(request_fds(&r, fds), REQUEST_FDS);
	assert_int_equal(request_read(&request, j.text, j.used, fds, REQUEST_FDS, why, sizeof(why)),
			 0);
	assert_memory_equal(&request, &r, sizeof(r));
	jsonw_done(&j);
}

static void it_has_no_path_command_or_number_of_a_process(void **state)
{
	struct request r;
	struct jsonw j = { 0 };

	(void)state;
	fixture_request(&r);
	request_write(&j, &r);
	assert_null(strchr(j.text, '/'));
	assert_null(strstr(j.text, "pid"));
	assert_null(strstr(j.text, "1006"));
	jsonw_done(&j);
}

static void the_least_is_a_metric_an_interval_a_stream_and_a_process(void **state)
{
	(void)state;
	assert_int_equal(read_text(HEAD TIME TWO, 2), 0);
	assert_int_equal(request.stream_fd, 1001);
	assert_int_equal(request.pid_fds[0], 1002);
	assert_int_equal(request.marks_fd, -1);
	assert_true(metric_has(&request.wanted, M_rss));
	assert_false(metric_has(&request.wanted, M_cpu));
}

static void another_version_is_refused_as_that(void **state)
{
	(void)state;
	assert_int_equal(read_text("{\"kind\":\"hello\",\"version\":2,\"more\":1}", 0),
			 -EPROTONOSUPPORT);
	assert_string_equal(why, "it is not of version 1");
	assert_int_equal(read_text("{\"kind\":\"hello\"}", 0), -EPROTONOSUPPORT);
	assert_int_equal(read_text("{\"kind\":\"hello\",\"version\":\"1\"}", 0), -EPROTONOSUPPORT);
}

static void what_is_no_request_is_refused(void **state)
{
	(void)state;
	assert_refused("", 0, "not a JSON object");
	assert_refused("[]", 0, "not a JSON object");
	assert_refused("null", 0, "not a JSON object");
	assert_refused(HEAD TIME TWO "x", 2, "not a JSON object");
	assert_refused("{\"kind\":\"hello\",\"kind\":\"hello\"}", 0, "not a JSON object");
	assert_refused("{}", 0, "kind");
	assert_refused("{\"kind\":[\"hello\"],\"version\":1}", 0, "kind");
}

static void key_that_is_not_known_is_refused(void **state)
{
	(void)state;
	assert_refused(HEAD TIME "\"command\":[\"sh\"]," TWO, 2, "'command' is not known");
	assert_refused(HEAD TIME "\"stream_fd\":1," TWO, 2, "'stream_fd' is not known");
	assert_refused(HEAD TIME "\"\":1," TWO, 2, "'' is not known");
}

/* An agent would listen there, in the place of any service that has an abstract name. */
static void name_of_a_socket_for_spans_is_one_that_runs_choose(void **state)
{
	(void)state;
	assert_int_equal(read_text(HEAD TIME "\"spans\":\"bpfmon-span-00c0ffee00c0ffee\"," TWO, 2),
			 0);
	assert_string_equal(request.spans, "bpfmon-span-00c0ffee00c0ffee");
	assert_refused(HEAD TIME "\"spans\":\"/tmp/.X11-unix/X0\"," TWO, 2, "spans");
	assert_refused(HEAD TIME "\"spans\":\"bpfmon-span-\"," TWO, 2, "spans");
	assert_refused(HEAD TIME "\"spans\":\"bpfmon-span-0xc0ffee00c0ffee\"," TWO, 2, "spans");
	assert_refused(HEAD TIME "\"spans\":\"bpfmon-span-00c0ffee00c0ffee0\"," TWO, 2, "spans");
}

static void number_out_of_range_is_refused(void **state)
{
	(void)state;
	assert_refused(HEAD TWO, 2, "interval_ns");
	assert_refused(HEAD "\"interval_ns\":9999999," TWO, 2, "interval_ns");
	assert_refused(HEAD "\"interval_ns\":-1," TWO, 2, "interval_ns");
	assert_refused(HEAD "\"interval_ns\":604800000000001," TWO, 2, "interval_ns");
	assert_refused(HEAD "\"interval_ns\":1e9," TWO, 2, "interval_ns");
	assert_refused(HEAD "\"interval_ns\":\"1000000000\"," TWO, 2, "interval_ns");
	assert_refused(HEAD TIME "\"process_samples\":1001," TWO, 2, "process_samples");
	assert_refused(HEAD TIME "\"process_samples\":4294967297," TWO, 2, "process_samples");
	assert_refused(HEAD TIME "\"pss_ppm\":500001," TWO, 2, "pss_ppm");
	assert_refused(HEAD TIME "\"shown_to\":4294967296," TWO, 2, "shown_to");
	assert_refused(HEAD TIME "\"duration_ns\":9223372036854775808," TWO, 2,
		       "not a JSON object");
	assert_refused(HEAD TIME "\"wait_tree\":1," TWO, 2, "wait_tree");
	assert_refused(HEAD TIME "\"wait_tree\":null," TWO, 2, "wait_tree");
}

static void metric_that_is_not_known_is_refused(void **state)
{
	(void)state;
	assert_refused("{\"kind\":\"hello\",\"version\":1,\"follow\":\"command\"," TIME TWO, 2,
		       "'metrics' is not a list");
	assert_refused("{\"kind\":\"hello\",\"version\":1,\"follow\":\"command\","
		       "\"metrics\":[\"rss\"]," TIME TWO,
		       2, "'metrics' has an unknown item");
	assert_refused("{\"kind\":\"hello\",\"version\":1,\"follow\":\"command\","
		       "\"metrics\":[0]," TIME TWO,
		       2, "'metrics' has an unknown item");
}

static void descriptors_must_be_those_that_came(void **state)
{
	(void)state;
	assert_refused(HEAD TIME TWO, 1, "descriptors");
	assert_refused(HEAD TIME TWO, 3, "descriptors");
	assert_refused(HEAD TIME "\"descriptors\":[\"stream\",\"stream\"]}", 2, "descriptors");
	assert_refused(HEAD TIME "\"descriptors\":[\"stream\",\"keeper\"]}", 2, "descriptors");
	assert_refused(HEAD TIME "\"descriptors\":[\"stream\",1]}", 2, "descriptors");
	assert_refused(HEAD TIME "\"descriptors\":\"stream\"}", 1, "descriptors");
	assert_refused(HEAD TIME "\"descriptors\":[]}", 0, "stream");
	assert_refused(HEAD "\"interval_ns\":1000000000}", 0, "descriptors");
}

static int read_follow_of(const char *follow, const char *descriptors, size_t nr)
{
	char text[2048];

	snprintf(text, sizeof(text),
		 "{\"kind\":\"hello\",\"version\":1,\"metrics\":[]," TIME
		 "\"follow\":%s,\"descriptors\":[\"stream\"%s]}",
		 follow, descriptors);
	return read_text(text, nr);
}

static void what_is_followed_must_have_come(void **state)
{
	(void)state;
	assert_int_equal(read_follow_of("\"command\"", "", 1), -EBADMSG);
	assert_int_equal(read_follow_of("\"command\"", ",\"process\",\"process\"", 3), -EBADMSG);
	assert_int_equal(read_follow_of("\"command\"", ",\"process\",\"cgroup\"", 3), 0);
	assert_int_equal(read_follow_of("\"processes\"", "", 1), -EBADMSG);
	assert_int_equal(read_follow_of("\"processes\"", ",\"process\",\"process\"", 3), 0);
	assert_int_equal(request.nr_pids, 2);
	assert_int_equal(read_follow_of("\"cgroup\"", "", 1), -EBADMSG);
	assert_int_equal(read_follow_of("\"cgroup\"", ",\"cgroup\",\"process\"", 3), -EBADMSG);
	assert_int_equal(read_follow_of("\"cgroup\"", ",\"cgroup\"", 2), 0);
	assert_int_equal(read_follow_of("\"everything\"", ",\"cgroup\"", 2), -EBADMSG);
	assert_int_equal(read_follow_of("0", ",\"process\"", 2), -EBADMSG);
	assert_refused(HEAD TIME "\"wait_start\":true," TWO, 2, "wait_start");
	assert_refused(HEAD TIME "\"processes\":true," TWO, 2, "processes");
}

static void more_processes_than_there_is_room_for_are_refused(void **state)
{
	char names[REQUEST_FDS * 12] = "";

	(void)state;
	for (size_t i = 0; i <= REQUEST_PROCESSES; i++)
		strcat(names, ",\"process\"");
	assert_int_equal(read_follow_of("\"processes\"", names, REQUEST_PROCESSES + 2), -EBADMSG);
	assert_non_null(strstr(why, "too often"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(the_largest_request_is_within_its_limit),
		cmocka_unit_test(it_has_no_path_command_or_number_of_a_process),
		cmocka_unit_test(the_least_is_a_metric_an_interval_a_stream_and_a_process),
		cmocka_unit_test(another_version_is_refused_as_that),
		cmocka_unit_test(what_is_no_request_is_refused),
		cmocka_unit_test(key_that_is_not_known_is_refused),
		cmocka_unit_test(name_of_a_socket_for_spans_is_one_that_runs_choose),
		cmocka_unit_test(number_out_of_range_is_refused),
		cmocka_unit_test(metric_that_is_not_known_is_refused),
		cmocka_unit_test(descriptors_must_be_those_that_came),
		cmocka_unit_test(what_is_followed_must_have_come),
		cmocka_unit_test(more_processes_than_there_is_room_for_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
