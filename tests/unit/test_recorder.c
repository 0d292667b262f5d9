// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/message.h"
#include "fixture.h"
#include "bpfmon/roles/output.h"
#include "bpfmon/roles/recorder.h"

#include <errno.h>
#include <sys/socket.h>

#define META "{\"kind\":\"meta\",\"start_time\":100,\"units\":{\"cpu_seconds\":\"s\"}}\n"
#define SAMPLE "{\"kind\":\"sample\",\"time\":101,\"elapsed_seconds\":1,\"cpu_seconds\":0.5}\n"
#define PROCESS                                                                                    \
	"{\"kind\":\"process\",\"exe\":\"/bin/cc\",\"end_time\":null,\"cpu_seconds\":0.25}\n"

/* A recorder's world: where it writes, what it told the launcher, how it ended. */
struct world {
	struct place *place;
	struct control told;
	int err;
	bool output_is_default;
};

static int world_make(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	return place_make((void **)&w->place);
}

static int world_remove(void **state)
{
	struct world *w = *state;
	void *place = w->place;

	free(w);
	return place_remove(&place);
}

/* Runs the recorder over @stream, which ends as when the collector dies. */
static void record(struct world *w, const char *stream, const struct observer_ops *format,
		   bool force)
{
	struct recorder_options o = { .nr_outputs = 1,
				      .outputs_are_defaults = w->output_is_default,
				      .quiet = true,
				      .force = force };
	int control[2], pipe_fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
	assert_int_equal(pipe(pipe_fd), 0);
	assert_int_equal(write(pipe_fd[1], stream, strlen(stream)), strlen(stream));
	close(pipe_fd[1]);
	o.outputs[0] = (struct recorder_output){ .format = format, .path = w->place->path };
	o.control_fd = control[0];
	o.stream_fd = pipe_fd[0];
	w->err = recorder_run(&o);
	assert_int_equal(control_receive(control[1], &w->told), 1);
	close(control[0]);
	close(control[1]);
	close(pipe_fd[0]);
}

static void assert_text_has(const char *path, const char *part)
{
	char *text = file_read(path);

	assert_non_null(text);
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
	free(text);
}

static void whole_run_is_copied_line_by_line(void **state)
{
	struct world *w = *state;
	char *text;

	record(w, META SAMPLE "{\"kind\":\"summary\",\"complete\":true,\"losses\":{}}\n",
	       &jsonl_observer, false);
	text = file_read(w->place->path);
	assert_int_equal(w->err, 0);
	assert_int_equal(w->told.type, CONTROL_READY);
	assert_memory_equal(text, META SAMPLE, strlen(META SAMPLE));
	assert_null(strstr(text, "the collector was killed"));
	free(text);
}

static void run_cut_off_is_closed_as_incomplete(void **state)
{
	struct world *w = *state;

	record(w, META SAMPLE PROCESS, &jsonl_observer, false);
	assert_text_has(w->place->path, "{\"kind\":\"summary\",\"complete\":false,\"reason\":\"the "
					"collector was killed: the recorded data ends there\"");
	assert_text_has(w->place->path, "\"cpu_seconds\":0.5,");
	assert_text_has(w->place->path, "\"programs\":[{\"exe\":\"/bin/cc\",\"processes\":1,"
					"\"cpu_seconds\":0.25}]");
}

static void half_a_line_at_the_end_is_left_out(void **state)
{
	struct world *w = *state;

	record(w, META "{\"kind\":\"sample\",\"cpu", &csv_observer, false);
	assert_text_has(w->place->path, "time,elapsed_seconds,cpu_seconds\n");
	assert_int_equal(w->err, 0);
}

static void malformed_line_is_passed_over(void **state)
{
	struct world *w = *state;
	char *text;

	record(w, META "not JSON\n" SAMPLE, &csv_observer, false);
	text = file_read(w->place->path);
	assert_string_equal(text, "time,elapsed_seconds,cpu_seconds\n101,1,0.5\n");
	free(text);
}

static void collector_that_never_began_leaves_no_file(void **state)
{
	struct world *w = *state;

	record(w, "", &jsonl_observer, false);
	assert_int_equal(w->err, 0);
	assert_int_equal(access(w->place->path, F_OK), -1);
}

static void existing_output_is_refused_with_advice(void **state)
{
	struct world *w = *state;

	file_write(w->place->path, "old\n");
	record(w, META, &jsonl_observer, false);
	assert_int_equal(w->err, -EEXIST);
	assert_int_equal(w->told.type, CONTROL_FAILED);
	assert_non_null(strstr(w->told.text, w->place->path));
	assert_non_null(strstr(w->told.text, "--force"));
	assert_text_has(w->place->path, "old\n");
}

static void output_that_is_being_written_is_refused_even_when_forced(void **state)
{
	struct world *w = *state;
	struct output other;

	output_open(&other, w->place->path, false);
	record(w, META, &jsonl_observer, true);
	assert_int_equal(w->err, -EALREADY);
	assert_int_equal(w->told.type, CONTROL_FAILED);
	assert_non_null(strstr(w->told.text, w->place->path));
	output_close(&other);
}

static void default_output_that_is_being_written_is_left_out(void **state)
{
	struct world *w = *state;
	struct output other;

	w->output_is_default = true;
	output_open(&other, w->place->path, false);
	output_commit(&other);
	record(w, META SAMPLE, &jsonl_observer, true);
	assert_int_equal(w->err, 0);
	assert_int_equal(w->told.type, CONTROL_READY);
	output_put(&other, "other\n", 6);
	output_close(&other);
	assert_text_has(w->place->path, "other\n");
}

static void default_output_that_exists_is_refused_as_any(void **state)
{
	struct world *w = *state;

	w->output_is_default = true;
	file_write(w->place->path, "old\n");
	record(w, META, &jsonl_observer, false);
	assert_int_equal(w->err, -EEXIST);
}

static void forced_output_stays_when_the_collector_never_began(void **state)
{
	struct world *w = *state;

	file_write(w->place->path, "old\n");
	record(w, "", &jsonl_observer, true);
	assert_text_has(w->place->path, "old\n");
}

static void forced_output_is_replaced_when_the_run_begins(void **state)
{
	struct world *w = *state;
	char *text;

	file_write(w->place->path, "old\n");
	record(w, META SAMPLE, &csv_observer, true);
	text = file_read(w->place->path);
	assert_null(strstr(text, "old"));
	assert_non_null(strstr(text, "101,1,0.5"));
	free(text);
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_make, world_remove)

static void recorder_that_waits_for_a_reader_ends_with_the_launcher(void **state)
{
	struct world *w = *state;
	struct recorder_options o = { .nr_outputs = 1, .quiet = true };
	int control[2];

	mkfifo(w->place->path, 0600);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control), 0);
	close(control[1]);
	o.outputs[0] =
		(struct recorder_output){ .format = &jsonl_observer, .path = w->place->path };
	o.control_fd = control[0];
	o.stream_fd = -1;
	assert_int_equal(recorder_run(&o), -ECANCELED);
	close(control[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(whole_run_is_copied_line_by_line),
		WORLD_TEST(run_cut_off_is_closed_as_incomplete),
		WORLD_TEST(half_a_line_at_the_end_is_left_out),
		WORLD_TEST(malformed_line_is_passed_over),
		WORLD_TEST(collector_that_never_began_leaves_no_file),
		WORLD_TEST(existing_output_is_refused_with_advice),
		WORLD_TEST(output_that_is_being_written_is_refused_even_when_forced),
		WORLD_TEST(default_output_that_is_being_written_is_left_out),
		WORLD_TEST(default_output_that_exists_is_refused_as_any),
		WORLD_TEST(forced_output_stays_when_the_collector_never_began),
		WORLD_TEST(forced_output_is_replaced_when_the_run_begins),
		WORLD_TEST(recorder_that_waits_for_a_reader_ends_with_the_launcher),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
