// SPDX-License-Identifier: BSD-2-Clause
/* Runs are found again: by what was given, in order, finished or not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/database_open.h"
#include "store/identity.h"
#include "store_fixture.h"
#include "text/runs_text.h"

#include <errno.h>
#include <sys/wait.h>

#define ALIGN META_OF("01", "\"name\":\"align\",\"job\":\"1\",\"tags\":{\"a\":\"1\",\"ab\":\"2\"},")
#define SORT META_OF("02", "\"name\":\"sort\",\"job\":\"2\",\"tags\":{\"a\":\"2\"},")

static size_t count(const char *path, const struct run_filter *f)
{
	struct stored_runs all = { 0 };
	struct database d;
	size_t nr;

	assert_int_equal(database_open(&d, path, DATABASE_READ), 0);
	assert_int_equal(query_runs(&d, 0, f, &all), 0);
	nr = all.nr;
	stored_runs_done(&all);
	database_close(&d);
	return nr;
}

static int two_runs(void **state)
{
	struct place *p;

	if (place_make(state))
		return -1;
	p = *state;
	keep(p->path, ALIGN SAMPLE_1 SAMPLE_2 PROCESS_1 SUMMARY);
	keep(p->path, SORT SAMPLE_1 PROCESS_1);
	return 0;
}

static void assert_found(const char *path, size_t expected, struct run_filter f)
{
	assert_int_equal(count(path, &f), expected);
}

static void each_filter_removes_all_other_runs(void **state)
{
	struct place *p = *state;
	const char *path = p->path;

	assert_found(path, 2, (struct run_filter){ 0 });
	assert_found(path, 1, (struct run_filter){ .name = "al*" });
	assert_found(path, 0, (struct run_filter){ .name = "al" });
	assert_found(path, 1, (struct run_filter){ .exact_name = "sort" });
	assert_found(path, 1, (struct run_filter){ .job = "2" });
	assert_found(path, 2, (struct run_filter){ .user = "ada" });
	assert_found(path, 2, (struct run_filter){ .host = "node?" });
	assert_found(path, 2, (struct run_filter){ .command = "ke -j" });
	assert_found(path, 0, (struct run_filter){ .command = "%" });
	assert_found(path, 1, (struct run_filter){ .since_ns = 1002000000000 });
	assert_found(path, 1, (struct run_filter){ .state = ONLY_FAILED });
	assert_found(path, 1, (struct run_filter){ .uuid = UUID "02" });
	assert_found(path, 1, (struct run_filter){ .id = 2 });
}

static void runs_of_another_user_are_not_found(void **state)
{
	struct place *p = *state;
	const char *path = p->path;

	tell(path, "UPDATE run SET uid = 8 WHERE id = 2");
	assert_found(path, 1, (struct run_filter){ .is_of_uid = true, .uid = 7 });
	assert_found(path, 0, (struct run_filter){ .is_of_uid = true, .uid = 7, .id = 2 });
	assert_found(path, 0, (struct run_filter){ .is_of_uid = true });
	tell(path, "UPDATE run SET uid = NULL");
	assert_found(path, 0, (struct run_filter){ .is_of_uid = true, .uid = 7 });
	assert_found(path, 0, (struct run_filter){ .is_of_uid = true, .uid = 0 });
}

static void runs_are_found_by_the_name_of_a_span(void **state)
{
	struct place *p = *state;
	const char *path = p->path;

	keep(path, META_OF("03", "") SPAN("2", "\"parent\":1,", "align A7")
			   SPAN("3", "", "align A8") SPAN("1", "", "job[1]"));
	keep(path, META_OF("04", "") SPAN("1", "", "align") SUMMARY);
	assert_found(path, 4, (struct run_filter){ 0 });
	assert_found(path, 1, (struct run_filter){ .span = "align A7" });
	assert_found(path, 2, (struct run_filter){ .span = "align*" });
	assert_found(path, 1, (struct run_filter){ .span = "align" });
	assert_found(path, 1, (struct run_filter){ .span = "align*", .state = ONLY_FINISHED });
	assert_found(path, 1, (struct run_filter){ .span = "job[1]" });
	assert_found(path, 0, (struct run_filter){ .span = "A7" });
	assert_found(path, 2, (struct run_filter){ .span = "*" });
}

static void brackets_in_a_pattern_stand_for_themselves(void **state)
{
	struct place *p = *state;

	tell(p->path, "UPDATE run SET name='job[1]', host='n[a-z]1' WHERE id=1");
	assert_found(p->path, 1, (struct run_filter){ .name = "job[1]" });
	assert_found(p->path, 1, (struct run_filter){ .name = "*[?]" });
	assert_found(p->path, 0, (struct run_filter){ .name = "[j]ob*" });
	assert_found(p->path, 0, (struct run_filter){ .name = "[" });
	assert_found(p->path, 1, (struct run_filter){ .host = "n[a-z]?" });
}

static void tags_are_found_by_key_or_whole(void **state)
{
	struct place *p = *state;
	const char *key[] = { "a" }, *whole[] = { "a=1" }, *both[] = { "a=1", "ab" };
	const char *part[] = { "a=" };

	assert_found(p->path, 2, (struct run_filter){ .tags = key, .nr_tags = 1 });
	assert_found(p->path, 1, (struct run_filter){ .tags = whole, .nr_tags = 1 });
	assert_found(p->path, 1, (struct run_filter){ .tags = both, .nr_tags = 2 });
	assert_found(p->path, 0, (struct run_filter){ .tags = part, .nr_tags = 1 });
}

/* The writer of both runs is this process, which lives; then one that has ended. */
static void run_without_a_summary_goes_on_while_its_recorder_lives(void **state)
{
	struct place *p = *state;
	char sql[300], gone[IDENTITY_BYTES] = "";
	int told[2];
	pid_t pid;

	assert_found(p->path, 1, (struct run_filter){ .state = ONLY_RUNNING });
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		identity_self(gone);
		_exit(write(told[1], gone, sizeof(gone)) != sizeof(gone));
	}
	assert_int_equal(read(told[0], gone, sizeof(gone)), sizeof(gone));
	close(told[0]);
	close(told[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(sql, sizeof(sql), "UPDATE run SET writer='%s'", gone);
	tell(p->path, sql);
	assert_found(p->path, 0, (struct run_filter){ .state = ONLY_RUNNING });
	assert_found(p->path, 1, (struct run_filter){ .state = ONLY_UNFINISHED });
	assert_found(p->path, 1, (struct run_filter){ .state = ONLY_FINISHED });
}

static void run_of_another_machine_counts_as_running_while_lines_come(void **state)
{
	struct place *p = *state;

	tell(p->path, "UPDATE run SET writer='elsewhere pid:[1] 1 1'");
	assert_found(p->path, 1, (struct run_filter){ .state = ONLY_RUNNING });
	tell(p->path, "UPDATE run SET seen_time_ns=seen_time_ns - 120000000000");
	assert_found(p->path, 1, (struct run_filter){ .state = ONLY_UNFINISHED });
}

static void newest_comes_first_unless_another_order_is_asked_for(void **state)
{
	struct place *p = *state;
	struct stored_runs all = { 0 };
	struct database d;

	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(query_runs(&d, 0, &(struct run_filter){ 0 }, &all), 0);
	stored_runs_sort(&all, BY_START);
	assert_string_equal(all.runs[0].name, "sort");
	for (size_t i = 0; i < all.nr; i++)
		all.runs[i].sort_value = (double)all.runs[i].cpu_ns;
	stored_runs_sort(&all, BY_VALUE);
	assert_string_equal(all.runs[0].name, "align");
	stored_runs_sort(&all, BY_NAME);
	assert_string_equal(all.runs[0].name, "align");
	stored_runs_done(&all);
	database_close(&d);
}

static void assert_table_fits(const struct stored_runs *all, size_t width)
{
	static const struct run_columns usual;
	const char *const sources[] = { "" };
	char *text = NULL, *rest, *line;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	runs_table(f, all, all->nr, sources, &usual, width);
	fclose(f);
	assert_null(strchr(text, '\033'));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		assert_in_range(strlen(line), 1, width);
	free(text);
}

static void table_fits_the_width_whatever_the_names_are(void **state)
{
	struct place *p = *state;
	struct stored_runs all = { 0 };
	struct database d;

	tell(p->path, "UPDATE run SET name=replace(hex(zeroblob(100)), '00', char(27) || '[2J'),"
		      " command=replace(hex(zeroblob(50000)), '0', char(10))");
	assert_int_equal(database_open(&d, p->path, DATABASE_READ), 0);
	assert_int_equal(query_runs(&d, 0, &(struct run_filter){ 0 }, &all), 0);
	for (size_t width = 25; width < 200; width++)
		assert_table_fits(&all, width);
	stored_runs_done(&all);
	database_close(&d);
}

#define RUNS_TEST(test) cmocka_unit_test_setup_teardown(test, two_runs, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RUNS_TEST(each_filter_removes_all_other_runs),
		RUNS_TEST(runs_of_another_user_are_not_found),
		RUNS_TEST(brackets_in_a_pattern_stand_for_themselves),
		RUNS_TEST(runs_are_found_by_the_name_of_a_span),
		RUNS_TEST(brackets_in_a_pattern_stand_for_themselves),
		RUNS_TEST(tags_are_found_by_key_or_whole),
		RUNS_TEST(run_without_a_summary_goes_on_while_its_recorder_lives),
		RUNS_TEST(run_of_another_machine_counts_as_running_while_lines_come),
		RUNS_TEST(newest_comes_first_unless_another_order_is_asked_for),
		RUNS_TEST(table_fits_the_width_whatever_the_names_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
