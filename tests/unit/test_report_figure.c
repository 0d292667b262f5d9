// SPDX-License-Identifier: BSD-2-Clause
/* The parts of the SVG: texts, ticks, curves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/plot.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER 200
#define ROWS 1000

/* @text as xml_write() writes it. */
static const char *xml_of(const char *text, size_t max, size_t *width)
{
	static char out[BUFFER];
	FILE *f = fmemopen(out, sizeof(out), "w");

	if (!f)
		abort();
	*width = xml_write(f, text, max);
	fclose(f);
	return out;
}

static void markup_becomes_text(void **state)
{
	size_t width;

	(void)state;
	assert_string_equal(xml_of("<a b=\"c\">&", 50, &width), "&lt;a b=&quot;c&quot;&gt;&amp;");
	assert_int_equal(width, 10);
}

static void forbidden_and_invisible_characters_are_written_as_numbers(void **state)
{
	size_t width;

	(void)state;
	assert_string_equal(xml_of("\x1b[\n\xe2\x80\xae\xef\xbf\xbf", 50, &width),
			    "\\x1b[\\n\\u202e\\uffff");
}

static void bytes_that_are_no_utf8_are_replaced(void **state)
{
	size_t width;

	(void)state;
	assert_string_equal(xml_of("a\xff\xe2\x82", 50, &width),
			    "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_int_equal(width, 4);
}

static void long_text_ends_in_an_ellipsis_between_characters(void **state)
{
	size_t width;

	(void)state;
	assert_string_equal(xml_of("\xc3\xa4\xc3\xa4\xc3\xa4", 2, &width),
			    "\xc3\xa4\xc3\xa4\xe2\x80\xa6");
	assert_string_equal(xml_of("abc", 3, &width), "abc");
}

static void steps_are_round_and_no_more_than_asked_for(void **state)
{
	(void)state;
	assert_true(axis_step(CHART_CORES, 4, 5) == 1);
	assert_true(axis_step(CHART_CORES, 0.04, 5) == 0.01);
	assert_true(axis_step(CHART_COUNT, 2, 5) == 1);
	assert_true(axis_step(CHART_BYTES, 200 << 20, 5) == 64 << 20);
	assert_true(axis_time_step(2.4, 7) == 0.5);
	assert_true(axis_time_step(100, 7) == 15);
	assert_true(axis_time_step(86400, 7) == 14400);
	assert_true(axis_time_step(30 * 86400, 7) == 5 * 86400);
}

static void values_have_their_unit(void **state)
{
	char out[AXIS_TEXT];

	(void)state;
	assert_string_equal(axis_format_value(out, CHART_CORES, 1.5), "1.5");
	assert_string_equal(axis_format_value(out, CHART_BYTES, 64 << 20), "64 MiB");
	assert_string_equal(axis_format_value(out, CHART_BYTE_RATE, 1536), "1.5 KiB/s");
	assert_string_equal(axis_format_value(out, CHART_COUNT_RATE, 300000), "300,000/s");
	assert_string_equal(axis_format_value(out, CHART_SHARE, 0.25), "25 %");
	assert_string_equal(axis_format_value(out, CHART_GPUS, 0.5), "0.5");
	assert_string_equal(axis_format_value(out, CHART_WATTS, 0), "0 W");
	assert_string_equal(axis_format_value(out, CHART_WATTS, 200), "200 W");
	assert_string_equal(axis_format_value(out, CHART_WATTS, 1500), "1.5 kW");
}

static void times_have_the_parts_that_the_run_needs(void **state)
{
	char out[AXIS_TEXT];

	(void)state;
	assert_string_equal(axis_format_time(out, 1.5, 0.5, 3), "1.5");
	assert_string_equal(axis_format_time(out, 125, 15, 300), "2:05");
	assert_string_equal(axis_format_time(out, 119.9996, 0.3, 300), "2:00.0");
	assert_string_equal(axis_format_time(out, 28799.667, 86.4, 86400), "8:00:00");
}

typedef void trace_writer(FILE *f, const struct trace *t);

static double value_at(const void *context, size_t i, enum bucket_value kind)
{
	const double *y = context;

	(void)kind;
	return y[i];
}

static void write_area(FILE *f, const struct trace *t)
{
	trace_write_area(f, t, 10);
}

/* The path of @nr values that are @apart pixels from each other; a unit is a pixel. */
static char *path_of(const double *y, size_t nr, double apart, trace_writer *write)
{
	static struct downsampler_bucket rows[ROWS];
	const struct trace_scale scale = {
		.bottom = 10, .x_per_second = 1, .y_per_unit = 1, .each = 1
	};
	struct trace t;
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		abort();
	for (size_t i = 0; i < nr; i++)
		rows[i].seconds = (double)i * apart;
	assert_int_equal(trace_make(&t, &scale, rows, nr, value_at, y), 0);
	write(f, &t);
	trace_done(&t);
	fclose(f);
	return text;
}

static void value_lasts_from_the_time_before_to_its_own(void **state)
{
	const double y[] = { 1, 2, 3 };
	char *path = path_of(y, 3, 4, trace_write_line);

	(void)state;
	assert_string_equal(path, "M0.0 9.0H0.0V8.0H4.0V7.0H8.0");
	free(path);
}

static void line_that_would_go_up_and_down_every_pixel_has_gaps(void **state)
{
	const double y[] = { 1, 1, 1, 5, 5, 25, 25, 5, 5 };
	char *path = path_of(y, 9, 0.5, trace_write_line);

	(void)state;
	assert_string_equal(path, "M0.0 9.0H1.0V5.0H2.0V-15.0H3.0M3.0 5.0H4.0");
	free(path);
}

static void band_of_many_values_keeps_the_peak_and_their_line_has_means(void **state)
{
	double y[ROWS] = { [777] = 9 };
	char *band = path_of(y, ROWS, 0.01, trace_write_band),
	     *line = path_of(y, ROWS, 0.01, trace_write_line);

	(void)state;
	assert_non_null(strstr(band, "V1.0H"));
	assert_null(strstr(line, "1.0H"));
	assert_non_null(strstr(line, "V9.9H")); /* 9 at one of 100 values */
	assert_in_range(strlen(line), 20, 12 * sizeof("M10.0 10.0H10.0"));
	free(band);
	free(line);
}

static void gap_interrupts_the_curve(void **state)
{
	const double y[] = { 1, NAN, 2 };
	char *line = path_of(y, 3, 1, trace_write_line), *area = path_of(y, 3, 1, write_area);

	(void)state;
	assert_string_equal(line, "M0.0 9.0H0.0M1.0 8.0H2.0");
	assert_string_equal(area, "M0.0 10.0V9.0H0.0V10.0ZM1.0 10.0V8.0H2.0V10.0Z");
	free(line);
	free(area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_becomes_text),
		cmocka_unit_test(forbidden_and_invisible_characters_are_written_as_numbers),
		cmocka_unit_test(bytes_that_are_no_utf8_are_replaced),
		cmocka_unit_test(long_text_ends_in_an_ellipsis_between_characters),
		cmocka_unit_test(steps_are_round_and_no_more_than_asked_for),
		cmocka_unit_test(values_have_their_unit),
		cmocka_unit_test(times_have_the_parts_that_the_run_needs),
		cmocka_unit_test(value_lasts_from_the_time_before_to_its_own),
		cmocka_unit_test(line_that_would_go_up_and_down_every_pixel_has_gaps),
		cmocka_unit_test(band_of_many_values_keeps_the_peak_and_their_line_has_means),
		cmocka_unit_test(gap_interrupts_the_curve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
