// SPDX-License-Identifier: BSD-2-Clause
/* The spans of a report, from the lines of a run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "report_fixture.h"

#include <stdio.h>

#define SPAN(rest) "{\"kind\":\"span\"," rest "}\n"

static json_t *spans_part(json_t *data, const char *key)
{
	return json_object_get(json_object_get(data, "spans"), key);
}

/* What row @i of the list @rows has in the field @name of @fields. */
static json_t *spans_value(json_t *data, const char *rows, const char *fields, size_t i,
			   const char *name)
{
	json_t *field;
	size_t at;

	json_array_foreach(spans_part(data, fields), at, field)
		if (!strcmp(json_string_value(field), name))
			return json_array_get(json_array_get(spans_part(data, rows), i), at);
	fail_msg("there is no field %s", name);
	return NULL;
}

static json_t *span_value(json_t *data, size_t i, const char *name)
{
	return spans_value(data, "rows", "fields", i, name);
}

static json_t *name_value(json_t *data, size_t i, const char *name)
{
	return spans_value(data, "names", "name_fields", i, name);
}

static void assert_number(const json_t *v, double expected)
{
	assert_true(json_is_number(v));
	assert_true(json_number_value(v) == expected);
}

static json_t *data_of(const char *spans)
{
	char *text;
	json_t *data;

	assert_true(asprintf(&text, "%s%s%s", META SAMPLE(0, "\"threads\":1"), spans, SUMMARY) > 0);
	data = report_data(text);
	free(text);
	return data;
}

static void a_span_has_what_its_line_has(void **state)
{
	json_t *d = data_of(SPAN("\"id\":7,\"parent\":3,\"name\":\"align\",\"pid\":42,"
				 "\"tags\":{\"a\":\"b\",\"c\":\"d\"},\"start_time\":1001,"
				 "\"end_time\":1003.5,\"complete\":true,\"exit_code\":3,"
				 "\"signal\":null,\"processes_total\":5,\"cpu_seconds\":1.25,"
				 "\"read_bytes\":4096,\"rss_peak_bytes\":100,"
				 "\"rss_peak_upper_bytes\":120"));

	(void)state;
	assert_number(span_value(d, 0, "id"), 7);
	assert_number(span_value(d, 0, "parent"), 3);
	assert_number(span_value(d, 0, "pid"), 42);
	assert_string_equal(json_string_value(span_value(d, 0, "tags")), "a=b, c=d");
	assert_number(span_value(d, 0, "start"), 0.5);
	assert_number(span_value(d, 0, "end"), 3);
	assert_number(span_value(d, 0, "wall_seconds"), 2.5);
	assert_number(span_value(d, 0, "exit_code"), 3);
	assert_true(json_is_null(span_value(d, 0, "signal")));
	assert_number(span_value(d, 0, "cpu_seconds"), 1.25);
	assert_number(span_value(d, 0, "read_bytes"), 4096);
	assert_true(json_is_null(span_value(d, 0, "write_bytes")));
	assert_number(span_value(d, 0, "rss_peak_bytes"), 100);
	assert_number(span_value(d, 0, "rss_peak_upper_bytes"), 120);
	assert_number(span_value(d, 0, "name"), 0);
	assert_string_equal(json_string_value(json_array_get(spans_part(d, "names"), 0)), "align");
	json_decref(d);
}

static void equal_names_are_summed_and_one_alone_is_not(void **state)
{
	json_t *d = data_of(
		SPAN("\"id\":1,\"name\":\"a\",\"start_time\":1001,\"end_time\":1002,"
		     "\"complete\":true,\"exit_code\":0,\"cpu_seconds\":1,\"write_bytes\":1,"
		     "\"processes_total\":2,\"rss_peak_bytes\":10,\"rss_peak_upper_bytes\":40")
			SPAN("\"id\":2,\"name\":\"a\",\"start_time\":1000.5,\"end_time\":1004,"
			     "\"complete\":false,\"exit_code\":1,\"cpu_seconds\":0.5,"
			     "\"processes_total\":3,\"rss_peak_exact_bytes\":30")
				SPAN("\"id\":3,\"name\":\"b\",\"start_time\":1001,"
				     "\"end_time\":null,\"complete\":true"));

	(void)state;
	assert_int_equal(json_array_size(spans_part(d, "names")), 2);
	assert_number(name_value(d, 0, "spans"), 2);
	assert_number(name_value(d, 0, "failed"), 1);
	assert_number(name_value(d, 0, "broken"), 1);
	assert_number(name_value(d, 0, "open"), 0);
	assert_number(name_value(d, 0, "start"), 0);
	assert_number(name_value(d, 0, "end"), 3.5);
	assert_number(name_value(d, 0, "wall_seconds"), 4.5);
	assert_number(name_value(d, 0, "longest_seconds"), 3.5);
	assert_number(name_value(d, 0, "cpu_seconds"), 1.5);
	assert_number(name_value(d, 0, "write_bytes"), 1);
	assert_number(name_value(d, 0, "processes_total"), 5);
	assert_number(name_value(d, 0, "rss_peak_bytes"), 30);
	assert_number(name_value(d, 0, "rss_peak_upper_bytes"), 40);
	assert_string_equal(json_string_value(json_array_get(spans_part(d, "names"), 1)), "b");
	json_decref(d);
}

static void a_name_has_no_upper_bound_if_a_span_of_it_has_none(void **state)
{
	json_t *d = data_of(SPAN("\"id\":1,\"name\":\"a\",\"rss_peak_bytes\":10,"
				 "\"rss_peak_upper_bytes\":40")
				    SPAN("\"id\":2,\"name\":\"a\",\"rss_peak_bytes\":30")
					    SPAN("\"id\":3,\"name\":\"a\",\"rss_peak_bytes\":5,"
						 "\"rss_peak_upper_bytes\":50"));

	(void)state;
	assert_number(name_value(d, 0, "rss_peak_bytes"), 30);
	assert_true(json_is_null(name_value(d, 0, "rss_peak_upper_bytes")));
	json_decref(d);
}

static void a_run_without_spans_has_no_list_of_them(void **state)
{
	json_t *d = data_of("");

	(void)state;
	assert_null(json_object_get(d, "spans"));
	json_decref(d);
}

/* @nr spans of 10 ms, but every hundredth of 1 s; the name of each is @format with its number. */
static json_t *data_of_many(unsigned nr, const char *format)
{
	char *text = NULL, name[300];
	size_t length;
	FILE *f = open_memstream(&text, &length);
	json_t *data;

	assert_non_null(f);
	for (unsigned i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), format, i);
		fprintf(f,
			SPAN("\"id\":%u,\"name\":\"%s\",\"tags\":{\"long\":\"%s\"},\"start_time\":"
			     "1001,\"end_time\":%s,\"cpu_seconds\":0.001"),
			i + 1, name, name, i % 100 ? "1001.01" : "1002");
	}
	fclose(f);
	data = data_of(text);
	free(text);
	return data;
}

static void of_very_many_the_longest_are_kept_and_all_are_summed(void **state)
{
	json_t *d = data_of_many(50000, "same");
	size_t i, longest = 0;
	json_t *row;

	(void)state;
	json_array_foreach(spans_part(d, "rows"), i, row)
		longest += json_number_value(span_value(d, i, "wall_seconds")) == 1;
	assert_int_equal(json_array_size(spans_part(d, "rows")), SPANS_SHOWN);
	assert_int_equal(longest, 500);
	assert_number(spans_part(d, "total"), 50000);
	assert_number(name_value(d, 0, "spans"), 50000);
	assert_number(name_value(d, 0, "cpu_seconds"), 50);
	json_decref(d);
}

static void names_are_limited_and_further_ones_are_counted(void **state)
{
	json_t *d = data_of_many(SPAN_NAMES + 7, "name %u");

	(void)state;
	assert_number(spans_part(d, "names_total"), SPAN_NAMES);
	assert_number(spans_part(d, "unnamed"), 7);
	assert_int_equal(json_array_size(spans_part(d, "names")), SPANS_SHOWN);
	json_decref(d);
}

/* Each character takes six bytes of the page. */
static void long_names_and_tags_make_no_large_page(void **state)
{
	static char format[256];
	json_t *d;
	char *text;

	(void)state;
	memset(format, '<', 240);
	strcpy(format + 240, "%u");
	d = data_of_many(10000, format);
	text = json_dumps(json_object_get(d, "spans"), JSON_COMPACT);
	assert_in_range(strlen(text), 200000, 700000);
	free(text);
	json_decref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_has_what_its_line_has),
		cmocka_unit_test(equal_names_are_summed_and_one_alone_is_not),
		cmocka_unit_test(a_name_has_no_upper_bound_if_a_span_of_it_has_none),
		cmocka_unit_test(a_run_without_spans_has_no_list_of_them),
		cmocka_unit_test(of_very_many_the_longest_are_kept_and_all_are_summed),
		cmocka_unit_test(names_are_limited_and_further_ones_are_counted),
		cmocka_unit_test(long_names_and_tags_make_no_large_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
