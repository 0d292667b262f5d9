// SPDX-License-Identifier: BSD-2-Clause
/* What the reader makes of lines that are not its writer's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/reader.h"

#include <errno.h>
#include <string.h>

static int read_text(struct line *l, const char *text)
{
	return line_read(l, text, strlen(text));
}

static void assert_malformed(const char *text)
{
	struct line l = { 0 };

	assert_int_equal(read_text(&l, text), -EBADMSG);
	line_done(&l);
}

static void unknown_kinds_are_tolerated(void **state)
{
	struct line l = { 0 };

	(void)state;
	assert_int_equal(read_text(&l, "{\"kind\":\"weather\",\"rain\":true}\n"), 0);
	assert_int_equal(l.kind, LINE_OTHER);
	line_done(&l);
}

static void unknown_keys_and_wrong_types_are_passed_over(void **state)
{
	struct line l = { 0 };

	(void)state;
	assert_int_equal(read_text(&l,
				   "{\"kind\":\"sample\",\"new\":{\"a\":[1]},\"rss_bytes\":null,"
				   "\"minflt\":\"7\",\"cpu_seconds\":1.5,\"by\":3}"),
			 0);
	assert_int_equal(l.kind, LINE_SAMPLE);
	assert_int_equal(l.sample.value[M_cpu], 1500000000);
	assert_false(sample_has(&l.sample, M_rss));
	assert_false(sample_has(&l.sample, M_minflt));
	line_done(&l);
}

static void summary_of_wrong_types_is_passed_over(void **state)
{
	struct line l = { 0 };

	(void)state;
	assert_int_equal(read_text(&l, "{\"kind\":\"summary\",\"complete\":1,\"losses\":[1],"
				       "\"programs\":{\"a\":1},\"self\":null,\"reason\":7}"),
			 0);
	assert_int_equal(l.kind, LINE_SUMMARY);
	assert_false(l.summary.complete);
	assert_int_equal(l.summary.nr_programs, 0);
	line_done(&l);
}

static void lines_that_are_no_object_are_malformed(void **state)
{
	(void)state;
	assert_malformed("");
	assert_malformed("\n");
	assert_malformed("null");
	assert_malformed("[{\"kind\":\"sample\"}]");
	assert_malformed("\"sample\"");
}

static void objects_without_a_kind_are_malformed(void **state)
{
	(void)state;
	assert_malformed("{}");
	assert_malformed("{\"kind\":7}");
	assert_malformed("{\"Kind\":\"sample\"}");
}

static void lines_cut_off_are_malformed(void **state)
{
	(void)state;
	assert_malformed("{\"kind\":\"sample\",\"cpu_sec");
	assert_malformed("{\"kind\":\"sample\"");
	assert_malformed("{\"kind\":\"sample\"} {");
}

static void malformed_line_leaves_the_last_one_readable(void **state)
{
	struct line l = { 0 };

	(void)state;
	read_text(&l, "{\"kind\":\"process\",\"pid\":7,\"exe\":\"/bin/cc\"}");
	assert_int_equal(read_text(&l, "{\"kind\""), -EBADMSG);
	assert_int_equal(l.process.pid, 7);
	assert_string_equal(l.process.exe, "/bin/cc");
	line_done(&l);
}

#define FORTY "0123456789012345678901234567890123456789"

static void long_comm_is_cut_to_its_room(void **state)
{
	struct line l = { 0 };

	(void)state;
	read_text(&l, "{\"kind\":\"process\",\"comm\":\"" FORTY "56789\"}");
	assert_string_equal(l.process.comm, FORTY "56789");
	read_text(&l, "{\"kind\":\"process\",\"comm\":\"" FORTY "56789a\"}");
	assert_string_equal(l.process.comm, FORTY "56789");
	line_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_kinds_are_tolerated),
		cmocka_unit_test(unknown_keys_and_wrong_types_are_passed_over),
		cmocka_unit_test(summary_of_wrong_types_is_passed_over),
		cmocka_unit_test(lines_that_are_no_object_are_malformed),
		cmocka_unit_test(objects_without_a_kind_are_malformed),
		cmocka_unit_test(lines_cut_off_are_malformed),
		cmocka_unit_test(malformed_line_leaves_the_last_one_readable),
		cmocka_unit_test(long_comm_is_cut_to_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
