// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "record/output.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static void put(struct output *o, const char *text)
{
	output_put(o, text, strlen(text));
}

static void assert_file(const char *path, const char *expected)
{
	char *text = file_read(path);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_no_file(const char *path)
{
	assert_int_equal(access(path, F_OK), -1);
}

static size_t files_in(const char *path)
{
	DIR *dir = opendir(path);
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

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

static void file_follows_the_umask(void **state)
{
	struct place *p = *state;
	mode_t old = umask(027);
	struct output o;
	struct stat st;

	output_open(&o, p->path, false);
	output_commit(&o);
	output_close(&o);
	umask(old);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void existing_file_is_refused_and_kept(void **state)
{
	struct place *p = *state;
	struct output o;

	file_write(p->path, "old\n");
	assert_int_equal(output_open(&o, p->path, false), -EEXIST);
	assert_file(p->path, "old\n");
}

static void empty_file_is_refused_too(void **state)
{
	struct place *p = *state;
	struct output o;

	file_write(p->path, "");
	assert_int_equal(output_open(&o, p->path, false), -EEXIST);
}

static void force_keeps_the_old_file_until_the_commit(void **state)
{
	struct place *p = *state;
	struct output o;

	file_write(p->path, "old\n");
	assert_int_equal(output_open(&o, p->path, true), 0);
	assert_file(p->path, "old\n");
	assert_int_equal(output_commit(&o), 0);
	put(&o, "new\n");
	assert_int_equal(output_close(&o), 0);
	assert_file(p->path, "new\n");
	assert_int_equal(files_in(p->dir), 1);
}

static void forced_file_follows_the_umask(void **state)
{
	struct place *p = *state;
	mode_t old = umask(027);
	struct output o;
	struct stat st;

	file_write(p->path, "old\n");
	output_open(&o, p->path, true);
	output_commit(&o);
	output_close(&o);
	umask(old);
	assert_int_equal(stat(p->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void failed_start_keeps_the_old_file_and_leaves_no_other(void **state)
{
	struct place *p = *state;
	struct output o;

	file_write(p->path, "old\n");
	output_open(&o, p->path, true);
	assert_int_equal(output_close(&o), 0);
	assert_file(p->path, "old\n");
	assert_int_equal(files_in(p->dir), 1);
}

static void failed_start_removes_a_new_file(void **state)
{
	struct place *p = *state;
	struct output o;

	output_open(&o, p->path, false);
	assert_int_equal(output_close(&o), 0);
	assert_no_file(p->path);
}

static void force_creates_a_file_that_was_not_there(void **state)
{
	struct place *p = *state;
	struct output o;

	assert_int_equal(output_open(&o, p->path, true), 0);
	output_commit(&o);
	put(&o, "new\n");
	output_close(&o);
	assert_file(p->path, "new\n");
}

static void folder_that_is_missing_is_said_so(void **state)
{
	struct place *p = *state;
	struct output o;
	char path[128];

	snprintf(path, sizeof(path), "%s/none/out", p->dir);
	assert_int_equal(output_open(&o, path, false), -ENOENT);
	assert_int_equal(output_open(&o, path, true), -ENOENT);
}

static void folder_is_no_place_to_write_to(void **state)
{
	struct place *p = *state;
	struct output o;

	assert_int_equal(output_open(&o, p->dir, false), -EISDIR);
	assert_int_equal(output_open(&o, p->dir, true), -EISDIR);
}

static void device_is_written_to_and_stays(void **state)
{
	struct output o;

	(void)state;
	assert_int_equal(output_open(&o, "/dev/null", false), 0);
	put(&o, "one\n");
	assert_int_equal(output_close(&o), 0);
	assert_int_equal(access("/dev/null", F_OK), 0);
}

static void full_device_is_told_once(void **state)
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

static void link_to_nowhere_is_refused(void **state)
{
	struct place *p = *state;
	struct output o;
	char target[128];

	snprintf(target, sizeof(target), "%s/target", p->dir);
	assert_int_equal(symlink(target, p->path), 0);
	assert_int_equal(output_open(&o, p->path, false), -EEXIST);
	assert_no_file(target);
}

static void link_is_still_a_link_after_force(void **state)
{
	struct place *p = *state;
	struct output o;
	struct stat st;
	char target[128];

	snprintf(target, sizeof(target), "%s/target", p->dir);
	file_write(target, "old\n");
	assert_int_equal(symlink(target, p->path), 0);
	assert_int_equal(output_open(&o, p->path, true), 0);
	output_commit(&o);
	put(&o, "new\n");
	output_close(&o);
	assert_int_equal(lstat(p->path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_file(target, "new\n");
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

#define PLACE_TEST(test) cmocka_unit_test_setup_teardown(test, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(new_file_holds_what_was_put),
		PLACE_TEST(nothing_is_written_before_the_flush),
		PLACE_TEST(file_follows_the_umask),
		PLACE_TEST(existing_file_is_refused_and_kept),
		PLACE_TEST(empty_file_is_refused_too),
		PLACE_TEST(force_keeps_the_old_file_until_the_commit),
		PLACE_TEST(forced_file_follows_the_umask),
		PLACE_TEST(failed_start_keeps_the_old_file_and_leaves_no_other),
		PLACE_TEST(failed_start_removes_a_new_file),
		PLACE_TEST(force_creates_a_file_that_was_not_there),
		PLACE_TEST(folder_that_is_missing_is_said_so),
		PLACE_TEST(folder_is_no_place_to_write_to),
		cmocka_unit_test(device_is_written_to_and_stays),
		cmocka_unit_test(full_device_is_told_once),
		PLACE_TEST(link_to_nowhere_is_refused),
		PLACE_TEST(link_is_still_a_link_after_force),
		PLACE_TEST(write_error_cuts_back_to_whole_lines),
		PLACE_TEST(write_error_keeps_the_lines_of_flushes_before),
		PLACE_TEST(after_a_write_error_nothing_is_written_any_more),
		PLACE_TEST(descriptor_of_others_is_not_cut),
		cmocka_unit_test(pipe_without_a_reader_fails_without_a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
