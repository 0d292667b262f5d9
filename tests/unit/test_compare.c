// SPDX-License-Identifier: BSD-2-Clause
/* Runs as sides, sides as groups, and what is different between them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/diff.h"
#include "study/compare_text.h"
#include "compare_fixture.h"

#include <errno.h>

static void a_run_has_the_values_of_its_summary_and_no_other(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(
		add_text(&all,
			 META() SUMMARY(",\"wall_seconds\":1.5,\"exit_code\":null,"
					"\"signal\":9,\"rss_peak_bytes\":7,\"rss_bytes\":3"),
			 add_run_file),
		0);
	assert_true(all.list[0].value[key_of("wall_seconds")] == 1.5);
	assert_true(all.list[0].value[key_of("signal")] == 9);
	assert_true(all.list[0].value[key_of("rss_peak_bytes")] == 7);
	assert_true(isnan(all.list[0].value[key_of("exit_code")]));
	assert_true(isnan(all.list[0].value[key_of("cpu_seconds")]));
	assert_true(all.list[0].complete);
	assert_false(all.list[0].is_folded);
	sides_done(&all);
}

static void a_run_that_was_cut_off_has_the_values_of_its_samples(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(
		add_text(&all,
			 META() "{\"kind\":\"sample\",\"elapsed_seconds\":2,\"cpu_seconds\":1,"
				"\"rss_bytes\":9}\n{\"kind\":\"sam",
			 add_run_file),
		0);
	assert_true(all.list[0].is_folded);
	assert_false(all.list[0].complete);
	assert_true(all.list[0].value[key_of("wall_seconds")] == 2);
	assert_true(all.list[0].value[key_of("cores_mean")] == 0.5);
	assert_true(all.list[0].value[key_of("rss_peak_bytes")] == 9);
	assert_true(isnan(all.list[0].value[key_of("processes_total")]));
	assert_true(isnan(all.list[0].value[key_of("outlived")]));
	assert_true(isnan(all.list[0].value[key_of("exit_code")]));
	sides_done(&all);
}

static void what_is_no_run_is_not_added(void **state)
{
	struct sides all = { 0 };

	(void)state;
	assert_int_equal(add_text(&all, "hello\n", add_run_file), -EBADMSG);
	assert_int_equal(add_text(&all, META() META(), add_run_file), -EMLINK);
	assert_int_equal(all.nr, 0);
	sides_done(&all);
}

/* Of the first key, in the group: rank test, quartiles. */
static void groups_are_compared_by_their_medians(void **state)
{
	const struct side *without;
	struct sides all = { 0 };
	struct comparison c;
	const struct against *x;
	struct groups g;
	size_t key = key_of("wall_seconds");

	(void)state;
	for (int i = 0; i < 5; i++) {
		add_tagged(&all, "new", "wall_seconds", 20 + i);
		add_tagged(&all, "old", "wall_seconds", 10 + i);
	}
	assert_int_equal(groups_by_tag(&g, &all, "build", &without), 0);
	assert_string_equal(g.list[0].name, "new");
	assert_int_equal(groups_baseline(&g, "none"), -ENOENT);
	assert_int_equal(groups_baseline(&g, "old"), 0);
	assert_string_equal(g.list[0].name, "old");
	assert_string_equal(g.list[1].name, "new");
	assert_int_equal(groups_compare(&c, &g), 0);
	x = against_of(&c, 1, key);
	assert_true(spread_of(&c, 0, key)->median == 12);
	assert_true(spread_of(&c, 1, key)->q3 == 23);
	assert_true(x->difference == 10);
	assert_near(x->relative, 10 / 12.0, 1e-12);
	assert_near(x->test.p, 2.0 / 252, 1e-12);
	assert_int_equal(x->verdict, VERDICT_DIFFERENT);
	assert_false(against_of(&c, 1, key_of("minflt"))->has_both);
	comparison_done(&c);
	groups_done(&g);
	sides_done(&all);
}

static enum verdict verdict_of(const double *a, const double *b, size_t n, const double *third)
{
	const struct side *without;
	struct sides all = { 0 };
	struct comparison c;
	struct groups g;
	enum verdict v;

	for (size_t i = 0; i < n; i++) {
		add_tagged(&all, "a", "minflt", a[i]);
		add_tagged(&all, "b", "minflt", b[i]);
		if (third)
			add_tagged(&all, "c", "minflt", third[i]);
	}
	assert_int_equal(groups_by_tag(&g, &all, "build", &without), 0);
	assert_int_equal(groups_compare(&c, &g), 0);
	v = against_of(&c, 1, key_of("minflt"))->verdict;
	comparison_done(&c);
	groups_done(&g);
	sides_done(&all);
	return v;
}

static void verdicts_are_honest(void **state)
{
	static const double low[] = { 1, 2, 3, 4 }, high[] = { 5, 6, 7, 8 };
	static const double mixed[] = { 0, 2, 3, 5 }, same[] = { 4, 4, 4, 4 };

	(void)state;
	assert_int_equal(verdict_of(low, high, 4, NULL), VERDICT_DIFFERENT);
	assert_int_equal(verdict_of(low, high, 3, NULL), VERDICT_TOO_FEW);
	assert_int_equal(verdict_of(low, high, 1, NULL), VERDICT_NONE);
	assert_int_equal(verdict_of(low, mixed, 4, NULL), VERDICT_NO_SIGN);
	assert_int_equal(verdict_of(same, same, 4, NULL), VERDICT_EQUAL);
	/* two tests: 2 in 70 each is no longer less than 1 in 20 */
	assert_int_equal(verdict_of(low, high, 4, mixed), VERDICT_TOO_FEW);
}

static void a_run_without_the_tag_is_named(void **state)
{
	const struct side *without = NULL;
	struct sides all = { 0 };
	struct groups g;

	(void)state;
	add_tagged(&all, "a", "minflt", 1);
	assert_int_equal(add_text(&all, META() SUMMARY(), add_run_file), 0);
	assert_int_equal(groups_by_tag(&g, &all, "build", &without), -ENOENT);
	assert_ptr_equal(without, &all.list[1]);
	groups_done(&g);
	sides_done(&all);
}

static char *diff_of(const char *a, const char *b)
{
	struct sides all = { 0 };
	struct groups g;
	json_t *diff;
	char *text;

	assert_int_equal(add_text(&all, a, add_run_file), 0);
	assert_int_equal(add_text(&all, b, add_run_file), 0);
	assert_int_equal(groups_each(&g, &all), 0);
	diff = facts_diff(&g);
	text = json_dumps(diff, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(diff);
	groups_done(&g);
	sides_done(&all);
	return text;
}

static void only_differences_are_reported(void **state)
{
	char *text = diff_of(META(",\"command\":[\"a\",\"b c\"],\"host\":\"h\",\"start_time\":1,"
				  "\"tags\":{\"x\":\"1\"},\"system\":{\"cpus\":2,\"kernel\":\"k\"}")
				     SUMMARY(),
			     META(",\"command\":[\"a\",\"d\"],\"host\":\"h\",\"start_time\":2,"
				  "\"tags\":{\"x\":\"1\",\"y\":\"2\"},\"system\":{\"cpus\":4,"
				  "\"kernel\":\"k\"}") SUMMARY());

	(void)state;
	assert_string_equal(text, "[{\"key\":\"command\",\"values\":[[\"a b c\"],[\"a d\"]]},"
				  "{\"key\":\"system.cpus\",\"values\":[[\"2\"],[\"4\"]]},"
				  "{\"key\":\"tags.y\",\"values\":[[],[\"2\"]]}]");
	free(text);
}

static void sockets_and_memory_of_the_moment_are_no_difference(void **state)
{
	char *text = diff_of(META(",\"live_socket\":\"@a\",\"live_socket_old\":\"@b\",\"system\":"
				  "{\"numa_nodes\":1,\"numa_memory_bytes\":{\"0\":1}}") SUMMARY(),
			     META(",\"live_socket\":\"@c\",\"system\":"
				  "{\"numa_nodes\":1,\"numa_memory_bytes\":{\"0\":2}}") SUMMARY());

	(void)state;
	assert_string_equal(text, "[]");
	free(text);
}

static void numbers_and_paths_of_jobs_are_no_difference(void **state)
{
	char *text =
		diff_of(META(",\"job\":\"8\",\"scheduler\":{\"SLURM_JOB_ID\":\"8\","
			     "\"SLURM_JOB_NAME\":\"a\"},\"limits\":{\"cgroup\":\"/a\"}") SUMMARY(),
			META(",\"job\":\"9\",\"scheduler\":{\"SLURM_JOB_ID\":\"9\","
			     "\"SLURM_JOB_NAME\":\"a\"},\"limits\":{\"cgroup\":\"/b\"}") SUMMARY());

	(void)state;
	assert_string_equal(text, "[]");
	free(text);
}

static void what_a_peer_does_not_record_is_no_difference(void **state)
{
	struct sides all = { 0 };
	struct groups g;
	json_t *diff;

	(void)state;
	assert_int_equal(add_text(&all, META(",\"host\":\"h\",\"system\":{\"cpus\":2}") SUMMARY(),
				  add_run_file),
			 0);
	assert_int_equal(add_text(&all,
				  "{\"Max\":{\"rss\":1},\"Avg\":{},\"HW\":{\"cpu\":{\"CPUs\":3}}}",
				  sides_add_peer),
			 0);
	assert_int_equal(groups_each(&g, &all), 0);
	diff = facts_diff(&g);
	assert_int_equal(json_array_size(diff), 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(diff, 0), "key")),
			    "system.cpus");
	json_decref(diff);
	groups_done(&g);
	sides_done(&all);
}

static void facts_that_a_shortened_meta_line_lacks_are_no_difference(void **state)
{
	const char *whole = META(",\"host\":\"h\",\"system\":{\"cpus\":2,\"kernel\":\"k\"},"
				 "\"capabilities\":{\"pss\":{\"available\":true},\"net\":"
				 "{\"available\":false,\"reason\":\"r\"}}") SUMMARY();
	char *text = diff_of(whole, META(",\"host\":\"i\"") SUMMARY());

	(void)state;
	assert_string_equal(text, "[{\"key\":\"host\",\"values\":[[\"h\"],[\"i\"]]}]");
	free(text);
	/* a single one that is missing is a difference */
	text = diff_of(whole, META(",\"host\":\"h\",\"system\":{\"cpus\":2}") SUMMARY());
	assert_string_equal(text, "[{\"key\":\"system.kernel\",\"values\":[[\"k\"],[]]}]");
	free(text);
}

/* The text of two runs, whose second is @b, in so many columns. */
static char *text_of(const char *b, size_t width)
{
	struct sides all = { 0 };
	struct comparison c;
	struct groups g;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	json_t *diff;

	assert_int_equal(add_text(&all,
				  META(",\"host\":\"h\",\"name\":\"a\"")
					  SUMMARY(",\"rss_peak_bytes\":1048576"),
				  add_run_file),
			 0);
	assert_int_equal(add_text(&all, b, add_run_file), 0);
	assert_int_equal(groups_each(&g, &all), 0);
	assert_int_equal(groups_compare(&c, &g), 0);
	diff = facts_diff(&g);
	comparison_text(f, &c, diff, width);
	fclose(f);
	json_decref(diff);
	comparison_done(&c);
	groups_done(&g);
	sides_done(&all);
	return text;
}

static void absent_is_a_dash(void **state)
{
	char *text = text_of(META(",\"name\":\"b\"") SUMMARY(",\"minflt\":0"), 100);

	(void)state;
	assert_non_null(strstr(text, "  rss_peak_bytes  1.0 MiB  -           -         -\n"));
	assert_non_null(strstr(text, "  minflt                -  0           -         -\n"));
	free(text);
}

static void hostile_names_are_inert_and_cut(void **state)
{
	char *text = text_of(META(",\"host\":\"\\u001b[2J\\u0007xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
				  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\n\\u009b\","
				  "\"tags\":{\"\\u001b]0;t\\u0007\":\"</script>\"}") SUMMARY(),
			     60);

	(void)state;
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		assert_in_range(end - line, 0, 60);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_has_the_values_of_its_summary_and_no_other),
		cmocka_unit_test(a_run_that_was_cut_off_has_the_values_of_its_samples),
		cmocka_unit_test(what_is_no_run_is_not_added),
		cmocka_unit_test(groups_are_compared_by_their_medians),
		cmocka_unit_test(verdicts_are_honest),
		cmocka_unit_test(a_run_without_the_tag_is_named),
		cmocka_unit_test(only_differences_are_reported),
		cmocka_unit_test(sockets_and_memory_of_the_moment_are_no_difference),
		cmocka_unit_test(numbers_and_paths_of_jobs_are_no_difference),
		cmocka_unit_test(what_a_peer_does_not_record_is_no_difference),
		cmocka_unit_test(facts_that_a_shortened_meta_line_lacks_are_no_difference),
		cmocka_unit_test(absent_is_a_dash),
		cmocka_unit_test(hostile_names_are_inert_and_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
