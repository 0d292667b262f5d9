// SPDX-License-Identifier: BSD-2-Clause
/* Files that take their names when all of them is written, or not at all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpfmon/whole_file.h"
#include "output_fixture.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void new_file_has_no_name_before_the_commit(void **state)
{
	struct place *p = *state;
	struct output o;

	assert_int_equal(output_open_whole(&o, p->path, false), 0);
	put(&o, "all\n");
	assert_int_equal(output_flush(&o), 0);
	assert_int_equal(access(p->path, F_OK), -1);
	assert_int_equal(output_commit(&o), 0);
	assert_int_equal(output_close(&o), 0);
	assert_file(p->path, "all\n");
	assert_int_equal(files_in(p->dir), 1);
}

static void what_is_not_committed_is_removed(void **state)
{
	struct place *p = *state;
	struct output o;

	assert_int_equal(output_open_whole(&o, p->path, false), 0);
	put(&o, "half\n");
	assert_int_equal(output_close(&o), 0);
	assert_int_equal(files_in(p->dir), 0);
}

static void file_that_came_meanwhile_keeps_its_name(void **state)
{
	struct place *p = *state;
	struct output o;

	assert_int_equal(output_open_whole(&o, p->path, false), 0);
	put(&o, "ours\n");
	file_write(p->path, "theirs\n");
	assert_int_equal(output_commit(&o), -EEXIST);
	output_close(&o);
	assert_file(p->path, "theirs\n");
	assert_int_equal(files_in(p->dir), 1);
}

static void file_that_exists_is_replaced_only_with_force(void **state)
{
	struct place *p = *state;
	struct output o;

	file_write(p->path, "old\n");
	assert_int_equal(output_open_whole(&o, p->path, false), -EEXIST);
	assert_int_equal(output_open_whole(&o, p->path, true), 0);
	put(&o, "new\n");
	assert_int_equal(output_flush(&o), 0);
	assert_file(p->path, "old\n");
	assert_int_equal(output_commit(&o), 0);
	output_close(&o);
	assert_file(p->path, "new\n");
}

static void whole_file_follows_the_umask(void **state)
{
	struct place *p = *state;

	assert_umask_counts(p->path, output_open_whole);
}

static void longest_name_has_room_for_the_temporary_one(void **state)
{
	struct place *p = *state;
	char path[sizeof(p->dir) + 1 + NAME_MAX + 1], name[NAME_MAX + 1];
	struct output o;

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	assert_int_equal(output_open_whole(&o, path, false), 0);
	put(&o, "all\n");
	assert_int_equal(output_flush(&o), 0);
	assert_int_equal(output_commit(&o), 0);
	output_close(&o);
	assert_file(path, "all\n");
}

static void a_missing_folder_is_reported(void **state)
{
	struct place *p = *state;
	struct output o;
	char path[128];

	snprintf(path, sizeof(path), "%s/none/out", p->dir);
	assert_int_equal(output_open_whole(&o, path, false), -ENOENT);
}

static void a_file_is_written_completely_or_not_at_all(void **state)
{
	struct place *p = *state;

	assert_int_equal(whole_file_write("page", p->path, false, "all\n", 4), 0);
	assert_file(p->path, "all\n");
	assert_int_equal(files_in(p->dir), 1);
}

/* What ends a child that writes a file when @sig has come. */
static int end_of_one_that_writes(const struct place *p, int sig)
{
	const struct rlimit no_core = { 0, 0 };
	pid_t child = fork();
	int status;

	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(sig, SIG_DFL); /* the tests may run under nohup */
		stop_signals_catch();
		raise(sig);
		whole_file_write("page", p->path, false, "all\n", 4);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void signal_while_a_file_is_put_leaves_nothing(void **state)
{
	const struct place *p = *state;

	assert_int_equal(end_of_one_that_writes(p, SIGINT), SIGINT);
	assert_int_equal(end_of_one_that_writes(p, SIGTERM), SIGTERM);
	assert_int_equal(end_of_one_that_writes(p, SIGHUP), SIGHUP);
	assert_int_equal(end_of_one_that_writes(p, SIGQUIT), SIGQUIT);
	assert_int_equal(files_in(p->dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(new_file_has_no_name_before_the_commit),
		PLACE_TEST(what_is_not_committed_is_removed),
		PLACE_TEST(file_that_came_meanwhile_keeps_its_name),
		PLACE_TEST(file_that_exists_is_replaced_only_with_force),
		PLACE_TEST(whole_file_follows_the_umask),
		PLACE_TEST(longest_name_has_room_for_the_temporary_one),
		PLACE_TEST(a_missing_folder_is_reported),
		PLACE_TEST(a_file_is_written_completely_or_not_at_all),
		PLACE_TEST(signal_while_a_file_is_put_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
