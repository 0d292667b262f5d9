// SPDX-License-Identifier: BSD-2-Clause
/* Pushed values, and the phases between marks, as the data of a report. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_fixture.h"

#include <stdio.h>

#define METRIC(at, name, tags, fields)                                                             \
	"{\"kind\":\"metric\",\"elapsed_seconds\":" at ",\"name\":\"" name "\",\"tags\":{" tags    \
	"},\"fields\":{" fields "}}\n"
#define MARK(at, text)                                                                             \
	"{\"kind\":\"event\",\"event\":\"mark\",\"elapsed_seconds\":" at ",\"text\":\"" text "\"}" \
	"\n"
#define ONE_SAMPLE SAMPLE(0, "\"threads\":1")

static json_t *chart_at(json_t *data, size_t i)
{
	return json_array_get(json_object_get(json_object_get(data, "pushed"), "charts"), i);
}

static json_t *series_at(json_t *data, size_t chart, size_t i)
{
	return json_array_get(json_object_get(chart_at(data, chart), "series"), i);
}

/* @v as text is @expected. */
static void assert_json(json_t *v, const char *expected)
{
	char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static json_int_t integer_of(json_t *data, const char *part, const char *key)
{
	json_t *pushed = json_object_get(data, "pushed");

	return json_integer_value(json_object_get(json_object_get(pushed, part), key));
}

static void a_chart_is_a_name_and_a_field_and_a_curve_its_tags(void **state)
{
	json_t *d = report_data(META ONE_SAMPLE METRIC("0.5", "loss", "\"phase\":\"train\"",
						       "\"value\":0.5,\"step\":7")
					METRIC("1", "loss", "\"phase\":\"test\"", "\"value\":0.25")
						METRIC("1.5", "loss", "\"phase\":\"train\"",
						       "\"value\":-3") SUMMARY);

	(void)state;
	assert_json(json_object_get(chart_at(d, 0), "field"), "\"value\"");
	assert_json(json_object_get(series_at(d, 0, 0), "tags"), "{\"phase\":\"train\"}");
	assert_json(json_object_get(series_at(d, 0, 0), "time"), "[0.5,1.5]");
	assert_json(json_object_get(series_at(d, 0, 0), "values"), "[0.5,-3]");
	assert_json(json_object_get(series_at(d, 0, 1), "values"), "[0.25]");
	assert_json(json_object_get(chart_at(d, 1), "field"), "\"step\"");
	assert_null(chart_at(d, 2));
	json_decref(d);
}

static void tags_in_another_order_are_the_same_series(void **state)
{
	json_t *d =
		report_data(META ONE_SAMPLE METRIC("0", "q", "\"a\":\"1\",\"b\":\"2\"", "\"n\":1")
				    METRIC("1", "q", "\"b\":\"2\",\"a\":\"1\"", "\"n\":2") SUMMARY);

	(void)state;
	assert_json(json_object_get(series_at(d, 0, 0), "values"), "[1,2]");
	json_decref(d);
}

static void lines_in_another_order_are_drawn_in_that_of_their_time(void **state)
{
	json_t *d = report_data(META ONE_SAMPLE METRIC("2", "q", "", "\"n\":2") METRIC(
		"1", "q", "", "\"n\":1") METRIC("3", "q", "", "\"n\":3") SUMMARY);

	(void)state;
	assert_json(json_object_get(series_at(d, 0, 0), "time"), "[1,2,3]");
	assert_json(json_object_get(series_at(d, 0, 0), "values"), "[1,2,3]");
	json_decref(d);
}

static void points_of_one_time_stay_in_their_order(void **state)
{
	json_t *d = report_data(META ONE_SAMPLE METRIC("1", "q", "", "\"n\":5") METRIC(
		"1", "q", "", "\"n\":9") METRIC("1", "q", "", "\"n\":2") SUMMARY);

	(void)state;
	assert_json(json_object_get(series_at(d, 0, 0), "values"), "[5,9,2]");
	assert_json(json_object_get(series_at(d, 0, 0), "time"), "[1,1.000001,1.000002]");
	json_decref(d);
}

static void booleans_are_drawn_and_texts_are_counted(void **state)
{
	json_t *d =
		report_data(META ONE_SAMPLE METRIC(
			"0", "job", "", "\"up\":true,\"note\":\"x\",\"none\":null,\"huge\":1e300")
				    METRIC("1", "job", "", "\"up\":false,\"note\":\"y\"") SUMMARY);

	(void)state;
	assert_json(json_object_get(series_at(d, 0, 0), "values"), "[1,0]");
	assert_json(json_object_get(series_at(d, 0, 0), "boolean"), "true");
	assert_null(chart_at(d, 1));
	assert_int_equal(integer_of(d, "texts", "series"), 3);
	assert_int_equal(integer_of(d, "texts", "values"), 4);
	assert_int_equal(integer_of(d, "left_out", "values"), 0);
	json_decref(d);
}

/* Names n0, n1, ... with one more point each, all of them with @series tags. */
static char *many_series(unsigned names, unsigned series)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		abort();
	fputs(META ONE_SAMPLE, f);
	for (unsigned n = 0; n < names; n++)
		for (unsigned i = 0; i < (n + 1) * series; i++)
			fprintf(f, METRIC("%u", "n%u", "\"of\":\"%u\"", "\"value\":%u"), i, n,
				i % series, i);
	fputs(SUMMARY, f);
	fclose(f);
	return text;
}

static void of_many_series_those_with_the_most_points_are_drawn_and_others_named(void **state)
{
	const unsigned names = SERIES_CHARTS + 2, series = SERIES_CURVES + 1;
	char *text = many_series(names, series);
	json_t *d = report_data(text), *rest;

	(void)state;
	assert_json(json_object_get(chart_at(d, 0), "name"), "\"n9\"");
	assert_json(json_object_get(chart_at(d, SERIES_CHARTS - 1), "name"), "\"n2\"");
	assert_null(chart_at(d, SERIES_CHARTS));
	assert_non_null(series_at(d, 0, SERIES_CURVES - 1));
	assert_null(series_at(d, 0, SERIES_CURVES));
	/* all of n0 and n1, and one of each other */
	assert_int_equal(integer_of(d, "left_out", "series"), 2 * series + SERIES_CHARTS);
	assert_int_equal(integer_of(d, "left_out", "values"), (1 + 2) * series + (3 + 10) * 8 / 2);
	rest = json_object_get(json_object_get(json_object_get(d, "pushed"), "left_out"), "named");
	assert_json(json_object_get(json_array_get(rest, 0), "name"), "\"n0\"");
	json_decref(d);
	free(text);
}

static void series_beyond_the_limit_are_counted(void **state)
{
	char *text = many_series(1, SERIES_MAX + 3);
	json_t *d = report_data(text);

	(void)state;
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(d, "pushed"), "others")), 3);
	assert_int_equal(integer_of(d, "left_out", "series"), SERIES_MAX - SERIES_CURVES);
	json_decref(d);
	free(text);
}

static void one_spike_among_very_many_points_stays(void **state)
{
	char *text = NULL;
	size_t length, i, found = 0;
	FILE *f = open_memstream(&text, &length);
	json_t *d, *v;

	(void)state;
	assert_non_null(f);
	fputs(META ONE_SAMPLE, f);
	for (unsigned k = 0; k < 50000; k++)
		fprintf(f, METRIC("%u", "q", "", "\"n\":%u"), k, k == 23456 ? 1000 : k % 7);
	fputs(SUMMARY, f);
	fclose(f);
	d = report_data(text);
	json_array_foreach(json_object_get(series_at(d, 0, 0), "most"), i, v)
		if (json_integer_value(v) == 1000) {
			found++;
			assert_in_range(json_integer_value(json_array_get(
						json_object_get(series_at(d, 0, 0), "time"), i)),
					23456, 23456 + 64); /* the end of its 64 points */
		}
	assert_int_equal(found, 1);
	assert_in_range(i, 512, 1024);
	json_decref(d);
	free(text);
}

static void run_without_pushed_values_has_no_part_for_them(void **state)
{
	json_t *d = report_data(META ONE_SAMPLE SUMMARY);

	(void)state;
	assert_null(json_object_get(d, "pushed"));
	assert_null(json_object_get(d, "phases"));
	json_decref(d);
}

static void phases_show_what_was_used_from_mark_to_mark(void **state)
{
	json_t *d = report_data(
		       META SAMPLE(0, "\"cpu_seconds\":0,\"rss_bytes\":4096") MARK("1", "load")
			       SAMPLE(1, "\"cpu_seconds\":0.5,\"rss_bytes\":8192")
				       SAMPLE(2, "\"cpu_seconds\":2.5,\"rss_bytes\":4096") SUMMARY),
	       *phases = json_object_get(d, "phases");

	(void)state;
	assert_json(json_object_get(phases, "fields"),
		    "[\"text\",\"start\",\"end\",\"shared_with\",\"shared_phases\",\"shared_end\","
		    "\"cpu_seconds\",\"user_seconds\",\"system_seconds\","
		    "\"rss_bytes\",\"read_bytes\",\"write_bytes\",\"forks\"]");
	assert_json(json_object_get(phases, "rows"),
		    "[[null,0,1,null,1,1,0.5,null,null,8192,null,null,null],"
		    "[\"load\",1,2,null,1,2,2,null,null,8192,null,null,null]]");
	json_decref(d);
}

static void phases_without_a_sample_between_refer_to_the_first_of_them(void **state)
{
	json_t *d = report_data(META SAMPLE(0, "\"cpu_seconds\":0") MARK("0.5", "a")
					MARK("0.75", "b") SAMPLE(1, "\"cpu_seconds\":0.5")
						SAMPLE(2, "\"cpu_seconds\":2.5") SUMMARY);

	(void)state;
	assert_json(json_object_get(json_object_get(d, "phases"), "rows"),
		    "[[null,0,0.5,null,3,2,2.5,null,null,null,null,null,null],"
		    "[\"a\",0.5,0.75,0,0,0.75,null,null,null,null,null,null,null],"
		    "[\"b\",0.75,2,0,0,2,null,null,null,null,null,null,null]]");
	json_decref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chart_is_a_name_and_a_field_and_a_curve_its_tags),
		cmocka_unit_test(tags_in_another_order_are_the_same_series),
		cmocka_unit_test(lines_in_another_order_are_drawn_in_that_of_their_time),
		cmocka_unit_test(points_of_one_time_stay_in_their_order),
		cmocka_unit_test(booleans_are_drawn_and_texts_are_counted),
		cmocka_unit_test(
			of_many_series_those_with_the_most_points_are_drawn_and_others_named),
		cmocka_unit_test(series_beyond_the_limit_are_counted),
		cmocka_unit_test(one_spike_among_very_many_points_stays),
		cmocka_unit_test(run_without_pushed_values_has_no_part_for_them),
		cmocka_unit_test(phases_show_what_was_used_from_mark_to_mark),
		cmocka_unit_test(phases_without_a_sample_between_refer_to_the_first_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
