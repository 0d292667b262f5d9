// SPDX-License-Identifier: BSD-2-Clause
/* What is written when, and what is left after a write that failed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "output_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static int flush_with_room_for(struct output *o, rlim_t bytes)
{
	struct rlimit old, small;
	int err;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){ bytes, old.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	err = output_flush(o);
	setrlimit(RLIMIT_FSIZE, &old);
	return err;
}

static void new_file_holds_what_was_put(void **state)
{
	struct place *p = *state;
	struct output o;

	assert_int_equal(output_open(&o, p->path, false), 0);
	assert_int_equal(output_commit(&o), 0);
	put(&o, "one\n");
	put(&o, "two\n");
	assert_int_equal(output_flush(&o), 0);
	put(&o, "three\n");
	assert_int_equal(output_close(&o), 0);
	assert_file(p->path, "one\ntwo\nthree\n");
}

static void nothing_is_written_before_the_flush(void **state)
{
	struct place *p = *state;
	struct output o;

	output_open(&o, p->path, false);
	output_commit(&o);
	put(&o, "one\n");
	assert_file(p->path, "");
	output_close(&o);
	assert_file(p->path, "one\n");
}

static void full_device_is_reported_once(void **state)
{
	struct output o;

	(void)state;
	assert_int_equal(output_open(&o, "/dev/full", false), 0);
	put(&o, "one\n");
	assert_int_equal(output_flush(&o), -ENOSPC);
	put(&o, "two\n");
	assert_int_equal(output_flush(&o), 0);
	assert_int_equal(output_close(&o), 0);
}

static void write_error_cuts_back_to_whole_lines(void **state)
{
	struct place *p = *state;
	struct output o;

	output_open(&o, p->path, false);
	output_commit(&o);
	put(&o, "line one\nline two\n");
	assert_int_equal(flush_with_room_for(&o, 12), -EFBIG);
	assert_int_equal(output_close(&o), 0);
	assert_file(p->path, "line one\n");
}

static void write_error_keeps_the_lines_of_flushes_before(void **state)
{
	struct place *p = *state;
	struct output o;

	output_open(&o, p->path, false);
	output_commit(&o);
	put(&o, "line one\n");
	assert_int_equal(output_flush(&o), 0);
	put(&o, "line two\nline three\n");
	assert_int_equal(flush_with_room_for(&o, 20), -EFBIG);
	output_close(&o);
	assert_file(p->path, "line one\nline two\n");
}

static void after_a_write_error_nothing_is_written_any_more(void **state)
{
	struct place *p = *state;
	struct output o;

	output_open(&o, p->path, false);
	output_commit(&o);
	put(&o, "line one\nline two\n");
	assert_int_equal(flush_with_room_for(&o, 12), -EFBIG);
	put(&o, "line three\n");
	assert_int_equal(output_flush(&o), 0);
	assert_int_equal(o.error, EFBIG);
	output_close(&o);
	assert_file(p->path, "line one\n");
}

static void descriptor_of_others_is_not_cut(void **state)
{
	struct place *p = *state;
	struct output o;
	int fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	output_open_fd(&o, fd);
	put(&o, "line one\nline two\n");
	assert_int_equal(flush_with_room_for(&o, 12), -EFBIG);
	output_close(&o);
	assert_file(p->path, "line one\nlin");
}

static void pipe_without_a_reader_fails_without_a_signal(void **state)
{
	struct output o;
	int fd[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN); /* as the roles do */
	assert_int_equal(pipe(fd), 0);
	close(fd[0]);
	output_open_fd(&o, fd[1]);
	put(&o, "one\n");
	assert_int_equal(output_flush(&o), -EPIPE);
	output_close(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(new_file_holds_what_was_put),
		PLACE_TEST(nothing_is_written_before_the_flush),
		cmocka_unit_test(full_device_is_reported_once),
		PLACE_TEST(write_error_cuts_back_to_whole_lines),
		PLACE_TEST(write_error_keeps_the_lines_of_flushes_before),
		PLACE_TEST(after_a_write_error_nothing_is_written_any_more),
		PLACE_TEST(descriptor_of_others_is_not_cut),
		cmocka_unit_test(pipe_without_a_reader_fails_without_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
