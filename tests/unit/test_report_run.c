// SPDX-License-Identifier: BSD-2-Clause
/* The data of a report, from the lines of a run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_fixture.h"

#include <errno.h>
#include <stdio.h>

static double number_at(const json_t *list, size_t i)
{
	return json_number_value(json_array_get(list, i));
}

static void gauges_are_as_read(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"rss_bytes\":123456789012") SUMMARY);

	(void)state;
	assert_int_equal(
		json_integer_value(json_array_get(report_column(d, "memory", "rss_bytes"), 0)),
		123456789012);
	json_decref(d);
}

static void counters_become_rates(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"user_seconds\":0,\"minflt\":0")
					SAMPLE(2, "\"user_seconds\":3,\"minflt\":5") SUMMARY);

	(void)state;
	assert_true(json_is_null(json_array_get(report_column(d, "cpu", "user_seconds"), 0)));
	assert_true(number_at(report_column(d, "cpu", "user_seconds"), 1) == 1.5);
	assert_true(number_at(report_column(d, "faults", "minflt"), 1) == 2.5);
	json_decref(d);
}

static void metric_that_was_not_read_is_null_or_absent(void **state)
{
	json_t *d =
		report_data(META SAMPLE(0, "\"rss_bytes\":1") SAMPLE(1, "\"threads\":1") SUMMARY);

	(void)state;
	assert_true(json_is_null(json_array_get(report_column(d, "memory", "rss_bytes"), 1)));
	assert_null(report_column(d, "memory", "swap_bytes"));
	json_decref(d);
}

static void sample_beside_a_tick_makes_no_gap_in_cpu_rates(void **state)
{
	json_t *d = report_data(
		META SAMPLE(0, "\"user_seconds\":0,\"cpu_seconds\":0,\"cores\":0")
			SAMPLE(1, "\"user_seconds\":1,\"cpu_seconds\":1,\"cores\":1") SAMPLE(
				1.001, "\"user_seconds\":1.004,\"cpu_seconds\":1.004,\"cores\":4")
				SAMPLE(2, "\"user_seconds\":1.5,\"cpu_seconds\":1.5,"
					  "\"cores\":0.497") SUMMARY);
	json_t *user = report_column(d, "cpu", "user_seconds"),
	       *all = report_column(d, "cpu", "cores");

	(void)state;
	assert_int_equal(json_array_size(user), 3);
	assert_true(number_at(user, 1) == 1);
	assert_true(number_at(user, 2) == 0.5);
	assert_true(number_at(all, 2) == 0.5);
	json_decref(d);
}

static void gauges_end_with_the_last_sample_that_found_a_process(void **state)
{
	json_t *d = report_data(
		META SAMPLE(0, "\"rss_bytes\":5,\"processes\":1,\"minflt\":0")
			SAMPLE(1, "\"rss_bytes\":0,\"processes\":0,\"minflt\":1")
				SAMPLE(2, "\"rss_bytes\":7,\"processes\":1,\"minflt\":2")
					SAMPLE(3, "\"rss_bytes\":0,\"processes\":0,"
						  "\"minflt\":3") SUMMARY);
	json_t *rss = report_column(d, "memory", "rss_bytes");

	(void)state;
	assert_int_equal(json_array_size(rss), 3);
	assert_true(number_at(rss, 1) == 0 && number_at(rss, 2) == 7);
	assert_int_equal(json_array_size(report_column(d, "faults", "minflt")), 4);
	json_decref(d);
}

/* Twice as many samples as there is room for; every second one has @odd. */
static json_t *data_of_many(const char *odd, const char *even)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	json_t *d;

	assert_non_null(f);
	fputs(META, f);
	for (int i = 0; i < 2 * CHART_ROOM; i++)
		fprintf(f, "{\"kind\":\"sample\",\"elapsed_seconds\":%d,%s}\n", i + 1,
			i % 2 ? odd : even);
	fputs(SUMMARY, f);
	fclose(f);
	d = report_data(text);
	free(text);
	return d;
}

static void several_samples_become_their_mean_and_extremes(void **state)
{
	json_t *d = data_of_many("\"rss_bytes\":10,\"processes\":2",
				 "\"rss_bytes\":30,\"processes\":3");
	json_t *memory = json_object_get(json_object_get(d, "charts"), "memory");
	json_t *alive = report_column(d, "processes", "processes");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(memory, "each")), 2);
	assert_true(number_at(report_column(d, "memory", "rss_bytes"), 9) == 20);
	assert_true(number_at(alive, 9) == 2.5);
	assert_true(number_at(json_object_get(json_object_get(memory, "least"), "rss_bytes"), 9) ==
		    10);
	assert_true(number_at(json_object_get(json_object_get(memory, "most"), "rss_bytes"), 9) ==
		    30);
	json_decref(d);
}

static void extremes_of_a_stack_without_a_total_are_those_of_its_sum(void **state)
{
	json_t *d = data_of_many("\"wait_pipe_seconds\":5", "\"wait_pipe_seconds\":5");
	json_t *waits = json_object_get(json_object_get(d, "charts"), "waits");

	(void)state;
	assert_non_null(json_object_get(json_object_get(waits, "most"), "sum"));
	assert_null(json_object_get(json_object_get(waits, "columns"), "sum"));
	json_decref(d);
}

#define LATE(at, n)                                                                                \
	"{\"kind\":\"event\",\"time\":1001,\"elapsed_seconds\":" #at                               \
	",\"event\":\"late_ticks\",\"count\":" #n "}\n"

static const char *missing_text(const json_t *d)
{
	return json_string_value(json_object_get(json_object_get(d, "missing"), "text"));
}

static void missing_samples_are_one_sentence_and_no_events(void **state)
{
	json_t *d = report_data("{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":1000.5,"
				"\"interval_seconds\":1}\n" SAMPLE(0, "\"threads\":1") LATE(70, 3)
					LATE(110, 5) LATE(119, 6) LATE(190, 1)
						SAMPLE(200, "\"threads\":1") SUMMARY);
	const json_t *missing = json_object_get(d, "missing");

	(void)state;
	assert_string_equal(missing_text(d),
			    "15 of 17 samples are missing, 14 of them between 1 and 2 min");
	assert_int_equal(json_array_size(json_object_get(d, "events")), 0);
	assert_null(json_object_get(json_object_get(d, "event_counts"), "late_ticks"));
	assert_true(number_at(json_object_get(missing, "from"), 1) == 105);
	assert_true(number_at(json_object_get(missing, "to"), 1) == 110);
	json_decref(d);
}

static void many_gaps_are_merged_and_lose_none(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	json_t *d;

	(void)state;
	assert_non_null(f);
	fputs(META SAMPLE(0, "\"threads\":1"), f);
	for (int i = 0; i < 5000; i++)
		fprintf(f,
			"{\"kind\":\"event\",\"time\":1001,\"elapsed_seconds\":%d,"
			"\"event\":\"late_ticks\",\"count\":2}\n",
			i);
	fputs(SUMMARY, f);
	fclose(f);
	d = report_data(text);
	assert_string_equal(missing_text(d), "10,000 of 10,001 samples are missing");
	assert_in_range(json_array_size(json_object_get(json_object_get(d, "missing"), "counts")),
			512, 1024);
	json_decref(d);
	free(text);
}

static void charts_share_the_times_that_are_equal(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"threads\":1") SAMPLE(1, "\"threads\":1") SUMMARY);
	json_t *charts = json_object_get(d, "charts");
	json_t *cpu = json_object_get(json_object_get(charts, "cpu"), "time");
	json_t *memory = json_object_get(json_object_get(charts, "memory"), "time");

	(void)state;
	assert_int_equal(json_array_size(cpu), 2);
	assert_string_equal(json_string_value(memory), "cpu");
	json_decref(d);
}

#define HELD(at, pid, comm, rss)                                                                   \
	"{\"kind\":\"process_sample\",\"elapsed_seconds\":" #at ",\"pid\":" #pid                   \
	",\"comm\":\"" comm "\",\"start_time\":1000.5,\"rss_bytes\":" #rss "}\n"

static double held_at(const json_t *data, size_t column, size_t row)
{
	const json_t *held = json_object_get(data, "held");

	return number_at(json_array_get(json_object_get(held, "columns"), column), row);
}

static json_int_t held_unsampled(const json_t *data)
{
	return json_integer_value(json_object_get(json_object_get(data, "held"), "unsampled"));
}

static const char *held_name(const json_t *data, size_t i)
{
	const json_t *names = json_object_get(json_object_get(data, "held"), "names");

	return json_string_value(json_array_get(names, i));
}

static void few_processes_have_a_column_each_and_one_for_the_rest(void **state)
{
	json_t *d =
		report_data(META SAMPLE(0, "\"rss_bytes\":100,\"processes\":7") HELD(0, 7, "a", 60)
				    HELD(0, 8, "b", 30) SAMPLE(1, "\"rss_bytes\":50")
					    HELD(1, 8, "b", 50) SUMMARY);

	(void)state;
	assert_string_equal(held_name(d, 0), "a (7)");
	assert_string_equal(held_name(d, 1), "b (8)");
	assert_true(held_at(d, 0, 0) == 60 && held_at(d, 0, 1) == 0);
	assert_true(held_at(d, 1, 0) == 30 && held_at(d, 1, 1) == 50);
	assert_true(held_at(d, 2, 0) == 0 && held_at(d, 2, 1) == 0);
	assert_true(held_at(d, 3, 0) == 10 && held_at(d, 3, 1) == 0);
	assert_int_equal(held_unsampled(d), 5);
	json_decref(d);
}

static void many_processes_are_summed_by_program(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"rss_bytes\":100") HELD(0, 1, "cc", 9)
					HELD(0, 2, "cc", 9) HELD(0, 3, "cc", 9) HELD(0, 4, "cc", 9)
						HELD(0, 5, "cc", 9) HELD(0, 6, "ld", 50)
							HELD(0, 7, "cc", 1) SUMMARY);

	(void)state;
	assert_string_equal(held_name(d, 0), "ld");
	assert_string_equal(held_name(d, 1), "cc");
	assert_true(held_at(d, 0, 0) == 50 && held_at(d, 1, 0) == 46);
	assert_true(held_at(d, 2, 0) == 0 && held_at(d, 3, 0) == 4);
	assert_int_equal(held_unsampled(d), 0);
	json_decref(d);
}

static void parts_of_the_cpu_time_are_no_more_than_the_cores(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"user_seconds\":0,\"system_seconds\":0")
					SAMPLE(0.01, "\"user_seconds\":0.018,\"system_seconds\":"
						     "0.006,\"cores\":2") SUMMARY);

	(void)state;
	assert_true(number_at(report_column(d, "cpu", "user_seconds"), 1) == 1.5);
	assert_true(number_at(report_column(d, "cpu", "system_seconds"), 1) == 0.5);
	json_decref(d);
}

static void whole_run_is_not_cut(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"threads\":1") SUMMARY);

	(void)state;
	assert_true(json_is_false(json_object_get(d, "cut")));
	assert_int_equal(json_integer_value(json_object_get(d, "unreadable")), 0);
	json_decref(d);
}

static void cut_off_run_gets_a_summary_that_is_not_complete(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"threads\":1,\"cpu_seconds\":0")
					SAMPLE(3, "\"cpu_seconds\":6") "{\"kind\":\"sam"),
	       *s = json_object_get(d, "summary");

	(void)state;
	assert_true(json_is_true(json_object_get(d, "cut")));
	assert_true(json_is_false(json_object_get(s, "complete")));
	assert_int_equal(json_integer_value(json_object_get(s, "cpu_seconds")), 6);
	assert_int_equal(json_integer_value(json_object_get(s, "wall_seconds")), 3);
	assert_null(json_object_get(s, "self"));
	assert_int_equal(json_integer_value(json_object_get(d, "unreadable")), 0);
	json_decref(d);
}

static void lines_that_cannot_be_read_are_counted(void **state)
{
	json_t *d = report_data(META "{\"kind\n" SAMPLE(0, "\"threads\":1") "\xff\n" SUMMARY);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(d, "unreadable")), 2);
	assert_true(json_is_false(json_object_get(d, "cut")));
	json_decref(d);
}

static void file_that_begins_otherwise_is_no_run(void **state)
{
	json_t *data;

	(void)state;
	assert_int_equal(report_text("hello\n", 6, &data), -EBADMSG);
	assert_int_equal(report_text("\0\1\2", 3, &data), -EBADMSG);
	assert_int_equal(report_text("[1]\n", 4, &data), -EBADMSG);
}

static void run_without_samples_and_several_runs_are_refused(void **state)
{
	const char *several = META SAMPLE(0, "\"threads\":1") META;
	json_t *data;

	(void)state;
	assert_int_equal(report_text(META, strlen(META), &data), -ENODATA);
	assert_int_equal(report_text(several, strlen(several), &data), -EMLINK);
}

static void curve_of_zeros_is_drawn_unless_it_is_rare(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"swap_bytes\":0,\"majflt\":0")
					SAMPLE(1, "\"swap_bytes\":0,\"majflt\":0") SUMMARY);

	(void)state;
	assert_null(report_column(d, "memory", "swap_bytes"));
	assert_non_null(report_column(d, "faults", "majflt"));
	json_decref(d);
}

static void process_times_count_from_the_start(void **state)
{
	json_t *d = report_data(
		META SAMPLE(0, "\"threads\":1") "{\"kind\":\"process\",\"pid\":7,\"comm\":\"x\","
						"\"start_time\":1001.25,\"end_time\":null,"
						"\"state\":\"S\"}\n" SUMMARY);

	(void)state;
	assert_int_equal(json_integer_value(report_field(d, 0, "pid")), 7);
	assert_true(json_number_value(report_field(d, 0, "start")) == 0.75);
	assert_true(json_is_null(report_field(d, 0, "end")));
	assert_string_equal(json_string_value(report_field(d, 0, "ended")), "S");
	json_decref(d);
}

static void arguments_are_joined_as_for_a_shell(void **state)
{
	json_t *d = report_data(
		META SAMPLE(0, "\"threads\":1") "{\"kind\":\"process\",\"pid\":7,"
						"\"args\":[\"sh\",\"-c\",\"a b\",\"\"]}\n" SUMMARY);

	(void)state;
	assert_string_equal(json_string_value(report_field(d, 0, "args")), "sh -c 'a b' ''");
	json_decref(d);
}

/* @nr processes; the middle one has the most CPU time, the last but one the largest peak. */
static char *many_processes(unsigned nr)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		abort();
	fputs(META SAMPLE(0, "\"threads\":1"), f);
	for (unsigned i = 0; i < nr; i++)
		fprintf(f,
			"{\"kind\":\"process\",\"pid\":%u,\"start_time\":1001,\"end_time\":1001.5,"
			"\"cpu_seconds\":%u,\"rss_peak_bytes\":%u}\n",
			i + 1, i == nr / 2 ? 99 : 1, i == nr - 2 ? 4096000 : 4096);
	fputs(SUMMARY, f);
	fclose(f);
	return text;
}

static size_t count_of_pid(const json_t *rows, unsigned pid)
{
	size_t i, found = 0;
	json_t *row;

	json_array_foreach(rows, i, row)
		found += json_integer_value(json_array_get(row, 0)) == pid;
	return found;
}

static void of_very_many_processes_the_heaviest_are_kept(void **state)
{
	const unsigned nr = 4 * PROCESSES_SHOWN;
	char *text = many_processes(nr);
	json_t *d = report_data(text), *rows = report_processes_rows(d);

	(void)state;
	assert_in_range(json_array_size(rows), 2, PROCESSES_SHOWN);
	assert_int_equal(count_of_pid(rows, nr / 2 + 1), 1);
	assert_int_equal(count_of_pid(rows, nr - 1), 1);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(d, "processes"), "total")), nr);
	json_decref(d);
	free(text);
}

static void ten_thousand_processes_are_all_there(void **state)
{
	char *text = many_processes(10000);
	json_t *d = report_data(text);

	(void)state;
	assert_int_equal(json_array_size(report_processes_rows(d)), 10000);
	json_decref(d);
	free(text);
}

static void events_of_a_name_are_limited_and_all_are_counted(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);
	json_t *d;

	(void)state;
	assert_non_null(f);
	fputs(META SAMPLE(0, "\"threads\":1"), f);
	for (int i = 0; i < 2000; i++)
		fputs("{\"kind\":\"event\",\"time\":1001,\"event\":\"pss_skipped\"}\n", f);
	fputs("{\"kind\":\"event\",\"time\":1001,\"event\":\"oom_kill\"}\n" SUMMARY, f);
	fclose(f);
	d = report_data(text);
	assert_int_equal(json_array_size(json_object_get(d, "events")), 1001);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(d, "event_counts"),
							    "pss_skipped")),
			 2000);
	json_decref(d);
	free(text);
}

static void of_the_meta_line_only_what_is_shown_is_in_the_page(void **state)
{
	json_t *d =
		report_data("{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"start_time\":1000.5,"
			    "\"units\":{\"minflt\":\"1\"},\"capabilities\":{\"minflt\":"
			    "{\"available\":true},\"pss_bytes\":{\"available\":false,"
			    "\"reason\":\"not asked for\"}}}\n" SAMPLE(0, "\"minflt\":0") SUMMARY);
	json_t *meta = json_object_get(d, "meta");
	json_t *missing = json_object_get(meta, "capabilities");

	(void)state;
	assert_null(json_object_get(meta, "units"));
	assert_int_equal(json_object_size(missing), 1);
	assert_non_null(json_object_get(json_object_get(missing, "pss_bytes"), "reason"));
	json_decref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_the_meta_line_only_what_is_shown_is_in_the_page),
		cmocka_unit_test(gauges_are_as_read),
		cmocka_unit_test(counters_become_rates),
		cmocka_unit_test(metric_that_was_not_read_is_null_or_absent),
		cmocka_unit_test(sample_beside_a_tick_makes_no_gap_in_cpu_rates),
		cmocka_unit_test(gauges_end_with_the_last_sample_that_found_a_process),
		cmocka_unit_test(several_samples_become_their_mean_and_extremes),
		cmocka_unit_test(extremes_of_a_stack_without_a_total_are_those_of_its_sum),
		cmocka_unit_test(missing_samples_are_one_sentence_and_no_events),
		cmocka_unit_test(many_gaps_are_merged_and_lose_none),
		cmocka_unit_test(charts_share_the_times_that_are_equal),
		cmocka_unit_test(few_processes_have_a_column_each_and_one_for_the_rest),
		cmocka_unit_test(many_processes_are_summed_by_program),
		cmocka_unit_test(parts_of_the_cpu_time_are_no_more_than_the_cores),
		cmocka_unit_test(whole_run_is_not_cut),
		cmocka_unit_test(cut_off_run_gets_a_summary_that_is_not_complete),
		cmocka_unit_test(lines_that_cannot_be_read_are_counted),
		cmocka_unit_test(file_that_begins_otherwise_is_no_run),
		cmocka_unit_test(run_without_samples_and_several_runs_are_refused),
		cmocka_unit_test(curve_of_zeros_is_drawn_unless_it_is_rare),
		cmocka_unit_test(process_times_count_from_the_start),
		cmocka_unit_test(arguments_are_joined_as_for_a_shell),
		cmocka_unit_test(of_very_many_processes_the_heaviest_are_kept),
		cmocka_unit_test(ten_thousand_processes_are_all_there),
		cmocka_unit_test(events_of_a_name_are_limited_and_all_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
