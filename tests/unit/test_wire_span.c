// SPDX-License-Identifier: BSD-2-Clause
/* The line of a span, written and read back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/reader.h"
#include "run/run.h"
#include "run/writer.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static struct span span_of_all(void)
{
	struct span s = {
		.id = 7,
		.parent = 3,
		.pid = 4242,
		.label = { .name = "align \"A7\"\n",
			   .tags = { "sample=A7", "x=a=b" },
			   .nr_tags = 2 },
		.start_epoch_ns = 1763690000123456000,
		.end_epoch_ns = 1763690002123456000,
		.used = { .complete = true,
			  .has_status = true,
			  .exit_code = 3,
			  .wall_ns = 2000000000 },
	};

	s.used.processes_total = 5;
	s.used.has_rss_peak_upper = true;
	s.used.rss_peak_upper_bytes = 4096;
	sample_set(&s.used.total, M_cpu, 1500000001);
	sample_set(&s.used.total, M_forks, 4);
	return s;
}

static void what_is_written_is_read_back(void **state)
{
	const struct span s = span_of_all();
	struct line line = { 0 };
	struct jsonw j = { 0 };

	(void)state;
	write_span(&j, &s);
	assert_int_equal(line_read(&line, j.text, j.used), 0);
	assert_int_equal(line.kind, LINE_SPAN);
	assert_int_equal(line.span.id, 7);
	assert_int_equal(line.span.parent, 3);
	assert_int_equal(line.span.pid, 4242);
	assert_false(line.span.in_place);
	assert_string_equal(line.span.label.name, s.label.name);
	assert_int_equal(line.span.label.nr_tags, 2);
	assert_string_equal(line.span.label.tags[0], "sample=A7");
	assert_string_equal(line.span.label.tags[1], "x=a=b");
	assert_int_equal(line.span.start_epoch_ns, s.start_epoch_ns);
	assert_int_equal(line.span.end_epoch_ns, s.end_epoch_ns);
	assert_true(line.span.used.complete);
	assert_true(line.span.used.has_status);
	assert_int_equal(line.span.used.exit_code, 3);
	assert_int_equal(line.span.used.wall_ns, 2000000000);
	assert_int_equal(line.span.used.processes_total, 5);
	assert_int_equal(line.span.used.total.value[M_cpu], 1500000001);
	assert_int_equal(line.span.used.rss_peak_upper_bytes, 4096);
	assert_false(line.span.used.has_rss_peak);
	line_done(&line);
	jsonw_done(&j);
}

static void one_that_outlived_the_run_has_no_end(void **state)
{
	struct span s = span_of_all();
	struct jsonw j = { 0 };

	(void)state;
	s.parent = s.end_epoch_ns = 0;
	s.used.has_status = false;
	write_span(&j, &s);
	assert_non_null(strstr(j.text, "\"end_time\":null"));
	assert_non_null(strstr(j.text, "\"exit_code\":null,\"signal\":null"));
	assert_null(strstr(j.text, "parent"));
	assert_null(strstr(j.text, "programs"));
	jsonw_done(&j);
}

static void a_line_of_nothing_is_a_span_without_values(void **state)
{
	static const char text[] = "{\"kind\":\"span\",\"tags\":{\"a\":1,\"b\":\"c\"},\"name\":[]}";
	struct line line = { 0 };

	(void)state;
	assert_int_equal(line_read(&line, text, sizeof(text) - 1), 0);
	assert_string_equal(line.span.label.name, "");
	assert_int_equal(line.span.label.nr_tags, 1);
	assert_string_equal(line.span.label.tags[0], "b=c");
	assert_false(line.span.used.complete);
	assert_false(line.span.used.has_rss_peak);
	line_done(&line);
}

/* A file may say anything; exports repeat it in each of their lines. */
static void names_and_tags_are_read_as_long_as_recording_allows(void **state)
{
	static char text[300000];
	struct line line = { 0 };
	size_t n = (size_t)snprintf(text, sizeof(text), "{\"kind\":\"span\",\"name\":\"");

	(void)state;
	for (size_t i = 0; i < 50000; i++, n += 2)
		memcpy(text + n, "\xc3\xa4", 2);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\",\"tags\":{\"k\":\"");
	memset(text + n, 'v', 100000);
	n += 100000;
	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\",\"k%d\":\"v", i);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\"}}");
	assert_int_equal(line_read(&line, text, n), 0);
	assert_int_equal(strlen(line.span.label.name), 3 * RUN_WORD_BYTES);
	assert_int_equal(line.span.label.nr_tags, MAX_SPAN_TAGS);
	assert_int_equal(strlen(line.span.label.tags[0]), 3 * RUN_WORD_BYTES + 1);
	assert_int_equal(json_object_size(json_object_get(line.tree, "tags")), MAX_SPAN_TAGS);
	memcpy(text + 9, "meta", 4);
	assert_int_equal(line_read(&line, text, n), 0);
	assert_int_equal(line.kind, LINE_META);
	assert_int_equal(json_string_length(json_object_get(line.tree, "name")),
			 3 * RUN_WORD_BYTES);
	assert_int_equal(json_object_size(json_object_get(line.tree, "tags")), MAX_TAGS);
	line_done(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(one_that_outlived_the_run_has_no_end),
		cmocka_unit_test(a_line_of_nothing_is_a_span_without_values),
		cmocka_unit_test(names_and_tags_are_read_as_long_as_recording_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
