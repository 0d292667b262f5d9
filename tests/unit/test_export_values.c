// SPDX-License-Identifier: BSD-2-Clause
/* What single values become in each format. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export_fixture.h"

static void assert_exported(const char *format, const char *meta, const char *rest,
			    const char *expected, void *state)
{
	struct place *p = state;
	char *text;
	size_t length = strlen(meta) + strlen(rest) + 1;
	char *run = malloc(length);

	assert_non_null(run);
	snprintf(run, length, "%s%s", meta, rest);
	file_write(p->path, run);
	free(run);
	text = export_as(p->path, format);
	if (!strstr(text, expected))
		fail_msg("no %s in %s", expected, text);
	free(text);
}

#define META_WITH(more)                                                                            \
	"{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"r\",\"start_time\":5" more "}\n"
#define SAMPLE(elapsed, values) "{\"kind\":\"sample\",\"elapsed_seconds\":" elapsed "," values "}\n"

static void a_tag_that_is_too_long_is_cut_between_characters(void **state)
{
	char meta[2000] = "", cut[600] = "";

	strcat(meta, "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"tags\":{\"k\":\"x");
	for (int i = 0; i < 300; i++)
		strcat(meta, "\u00fc");
	strcat(meta, "\"}}\n");
	strcat(cut, "bpfmon,k=x");
	for (int i = 0; i < 255; i++) /* with the x: 511 bytes, and half a character would fit */
		strcat(cut, "\u00fc");
	strcat(cut, " elapsed");
	assert_exported("influx", meta, SAMPLE("1", "\"minflt\":1"), cut, *state);
}

static void whole_seconds_are_decimals_in_influx_and_counts_are_integers(void **state)
{
	assert_exported("influx", META_WITH(""), SAMPLE("1", "\"cpu_seconds\":2,\"minflt\":3"),
			"bpfmon,run=r elapsed_seconds=1,cpu_seconds=2,minflt=3i 6000000000\n",
			*state);
}

static void elapsed_time_has_hours_as_gnu_time_writes_them(void **state)
{
	assert_exported("gnu-time", META_WITH(""),
			"{\"kind\":\"summary\",\"wall_seconds\":3723.99,\"exit_code\":0}\n",
			"m:ss): 1:02:03\n", *state);
}

static void memory_is_rounded_up_in_what_is_to_be_requested(void **state)
{
	assert_exported("rmonitor", META_WITH(""),
			"{\"kind\":\"summary\",\"rss_peak_bytes\":1048577}\n",
			"\"memory\":[1.001,\"MB\"]", *state);
}

static void prmon_has_no_column_of_what_was_never_read(void **state)
{
	assert_exported("prmon", META_WITH(",\"units\":{\"swap_bytes\":\"bytes\"}"),
			SAMPLE("0", "\"rss_bytes\":2048") SAMPLE("1.5", "\"minflt\":1"),
			"Time\trss\twtime\n5\t2\t0\n6.5\t\t1.5\n", *state);
}

static void a_format_is_found_by_its_name(void **state)
{
	(void)state;
	assert_ptr_equal(export_find("gnu-time"), &gnu_time_export);
	assert_null(export_find("gnu"));
	assert_null(export_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(a_tag_that_is_too_long_is_cut_between_characters),
		PLACE_TEST(whole_seconds_are_decimals_in_influx_and_counts_are_integers),
		PLACE_TEST(elapsed_time_has_hours_as_gnu_time_writes_them),
		PLACE_TEST(memory_is_rounded_up_in_what_is_to_be_requested),
		PLACE_TEST(prmon_has_no_column_of_what_was_never_read),
		cmocka_unit_test(a_format_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
