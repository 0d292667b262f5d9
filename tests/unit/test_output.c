// SPDX-License-Identifier: BSD-2-Clause
/* Which file an output is, and what becomes of one that was there before. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "output_fixture.h"

#include <errno.h>

static void assert_no_file(const char *path)
{
	assert_int_equal(access(path, F_OK), -1);
}

static void file_follows_the_umask(void **state)
{
	struct place *p = *state;

	assert_umask_counts(p->path, output_open);
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

static void file_that_is_being_written_is_refused_even_with_force(void **state)
{
	struct place *p = *state;
	struct output first, second;

	assert_int_equal(output_open(&first, p->path, false), 0);
	output_commit(&first);
	put(&first, "one\n");
	assert_int_equal(output_open(&second, p->path, false), -EALREADY);
	assert_int_equal(output_open(&second, p->path, true), -EALREADY);
	assert_int_equal(output_close(&first), 0);
	assert_int_equal(output_open(&second, p->path, false), -EEXIST);
	assert_file(p->path, "one\n");
}

static void file_that_replaces_another_is_being_written_too(void **state)
{
	struct place *p = *state;
	struct output first, second;

	file_write(p->path, "old\n");
	assert_int_equal(output_open(&first, p->path, true), 0);
	assert_int_equal(output_open(&second, p->path, true), -EALREADY);
	output_commit(&first);
	assert_int_equal(output_open(&second, p->path, true), -EALREADY);
	assert_int_equal(output_close(&first), 0);
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

static void forced_file_has_the_mode_of_the_old_one(void **state)
{
	struct place *p = *state;
	struct output o;
	struct stat st;
	mode_t old;

	file_write(p->path, "old\n");
	assert_int_equal(chmod(p->path, 0640), 0);
	old = umask(077);
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

static void a_missing_folder_is_reported(void **state)
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

static void a_pipe_without_a_reader_is_refused_at_once(void **state)
{
	struct place *p = *state;
	struct output o;

	mkfifo(p->path, 0600);
	assert_int_equal(output_open(&o, p->path, false), -EAGAIN);
	assert_int_equal(access(p->path, F_OK), 0);
}

static void pipe_that_is_read_never_blocks_its_writer(void **state)
{
	struct place *p = *state;
	struct output o;
	int reader;

	mkfifo(p->path, 0600);
	reader = open(p->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(output_open(&o, p->path, false), 0);
	assert_true(fcntl(o.fd, F_GETFL) & O_NONBLOCK);
	output_close(&o);
	close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(file_follows_the_umask),
		PLACE_TEST(existing_file_is_refused_and_kept),
		PLACE_TEST(empty_file_is_refused_too),
		PLACE_TEST(file_that_is_being_written_is_refused_even_with_force),
		PLACE_TEST(file_that_replaces_another_is_being_written_too),
		PLACE_TEST(force_keeps_the_old_file_until_the_commit),
		PLACE_TEST(forced_file_has_the_mode_of_the_old_one),
		PLACE_TEST(failed_start_keeps_the_old_file_and_leaves_no_other),
		PLACE_TEST(failed_start_removes_a_new_file),
		PLACE_TEST(force_creates_a_file_that_was_not_there),
		PLACE_TEST(a_missing_folder_is_reported),
		PLACE_TEST(folder_is_no_place_to_write_to),
		cmocka_unit_test(device_is_written_to_and_stays),
		PLACE_TEST(link_to_nowhere_is_refused),
		PLACE_TEST(link_is_still_a_link_after_force),
		PLACE_TEST(a_pipe_without_a_reader_is_refused_at_once),
		PLACE_TEST(pipe_that_is_read_never_blocks_its_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
