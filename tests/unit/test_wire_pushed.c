// SPDX-License-Identifier: BSD-2-Clause
/* What programs push, as lines of kind metric and event. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "point_fixture.h"
#include "run/reader.h"

static void integers_beyond_what_json_readers_take_are_rounded(void **state)
{
	(void)state;
	assert_written("a b=18446744073709551615u",
		       "\"name\":\"a\",\"tags\":{},\"fields\":{\"b\":1.8446744073709552e+19},"
		       "\"pid\":77}\n");
}

/* Pieces of lines put together at random: what is taken for a point can be read back. */
static void whatever_is_taken_is_a_line_of_json(void **state)
{
	static const char *const pieces[] = {
		"a",        "b",          "=",   ",",    " ",       "\"",    "\\", "1",    "2.5",
		"i",        "u",          "e",   "-",    "t",       "\n",    "\r", "#",    "\xff",
		"\xc3\xa9", "9999999999", " b=", ",c=1", "b=\"x\"", "a,t=v", "\1", "\x1b",
	};
	struct run run = { .start_epoch_ns = START_NS };
	struct line l = { 0 };
	struct jsonw j = { 0 };
	uint32_t random = 1, points = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[256] = "a b=", *at = text;

		for (int k = 0; k < 8; k++) {
			random = random * 1664525 + 1013904223;
			strcat(text, pieces[(random >> 16) % (sizeof(pieces) / sizeof(*pieces))]);
		}
		for (char *end = text + strlen(text); at < end;) {
			if (point_parse(&point, &at, end) != 1)
				continue;
			points++;
			write_point(&j, &run, 1, 2, &point);
			assert_int_equal(line_read(&l, j.text, j.used), 0);
			assert_int_equal(l.kind, LINE_METRIC);
			jsonw_reset(&j);
		}
	}
	assert_in_range(points, 1000, 200000);
	line_done(&l);
	jsonw_done(&j);
}

static void numbers_are_written_as_they_were_meant(void **state)
{
	(void)state;
	assert_written("a b=0.1,c=-1.234456e+78,d=5.,e=.5,f=1e-300",
		       "\"name\":\"a\",\"tags\":{},\"fields\":{\"b\":0.1,\"c\":-1.234456e+78,"
		       "\"d\":5,\"e\":0.5,\"f\":1e-300},\"pid\":77}\n");
}

static void a_negative_zero_keeps_its_sign(void **state)
{
	(void)state;
	assert_written("a b=-0,c=-0i", "\"name\":\"a\",\"tags\":{},\"fields\":{\"b\":-0.0,\"c\":0},"
				       "\"pid\":77}\n");
}

static void the_time_of_the_line_is_kept_beside_that_of_the_kernel(void **state)
{
	(void)state;
	assert_written("a b=1 1763690000500000001",
		       "\"name\":\"a\",\"tags\":{},\"fields\":{\"b\":1},"
		       "\"reported_time\":1763690000.500000001,\"pid\":77}\n");
}

static void hostile_names_are_strings(void **state)
{
	(void)state;
	assert_written("\"</script>\x1b[31m,\xff=\"\xc3\xa9 b\"=\"\xfe\"",
		       "\"name\":\"\\\"</script>\\u001b[31m\",\"tags\":{\"\xef\xbf\xbd\":\"\\\"\xc3"
		       "\xa9\"},\"fields\":{\"b\\\"\":\"\xef\xbf\xbd\"},\"pid\":77,"
		       "\"lossy\":true}\n");
}

static void a_mark_is_an_event_with_its_text(void **state)
{
	struct run run = { .start_epoch_ns = START_NS };
	struct jsonw j = { 0 };

	(void)state;
	write_mark(&j, &run, 2500000001, 4242, "epoch \"3\"\n\xff", 11);
	assert_string_equal(j.text,
			    "{\"kind\":\"event\",\"time\":1763690002.623456,\"event\":\"mark\","
			    "\"elapsed_seconds\":2.500000001,\"text\":\"epoch \\\"3\\\"\\u000a"
			    "\xef\xbf\xbd\",\"pid\":4242,\"lossy\":true}\n");
	jsonw_done(&j);
}

static void a_point_of_an_unknown_sender_has_no_pid(void **state)
{
	struct run run = { .start_epoch_ns = START_NS };
	struct jsonw j = { 0 };

	(void)state;
	assert_int_equal(parse("a b=t"), 1);
	write_point(&j, &run, 0, 0, &point);
	assert_string_equal(j.text,
			    "{\"kind\":\"metric\",\"time\":1763690000.123456,\"elapsed_seconds\":0,"
			    "\"name\":\"a\",\"tags\":{},\"fields\":{\"b\":true}}\n");
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_beyond_what_json_readers_take_are_rounded),
		cmocka_unit_test(whatever_is_taken_is_a_line_of_json),
		cmocka_unit_test(numbers_are_written_as_they_were_meant),
		cmocka_unit_test(a_negative_zero_keeps_its_sign),
		cmocka_unit_test(the_time_of_the_line_is_kept_beside_that_of_the_kernel),
		cmocka_unit_test(hostile_names_are_strings),
		cmocka_unit_test(a_mark_is_an_event_with_its_text),
		cmocka_unit_test(a_point_of_an_unknown_sender_has_no_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
