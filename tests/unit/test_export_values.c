// SPDX-License-Identifier: BSD-2-Clause
/* Single values in each format. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export_fixture.h"

static void assert_document(const struct export_document *d, const char *meta, const char *rest,
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
	text = export_file(p->path, d);
	if (!strstr(text, expected))
		fail_msg("no %s in %s", expected, text);
	free(text);
}

static void assert_exported(const char *format, const char *meta, const char *rest,
			    const char *expected, void *state)
{
	assert_document(&export_find(format)->documents[0], meta, rest, expected, state);
}

static void assert_summarized(const char *meta, const char *rest, const char *expected, void *state)
{
	assert_document(&prmon_export.documents[1], meta, rest, expected, state);
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

static void rmonitor_rounds_memory_up(void **state)
{
	assert_exported("rmonitor", META_WITH(""),
			"{\"kind\":\"summary\",\"rss_peak_bytes\":1048577}\n",
			"\"memory\":[1.001,\"MB\"]", *state);
}

static void prmon_has_no_column_of_a_metric_never_read(void **state)
{
	assert_exported("prmon", META_WITH(",\"units\":{\"swap_bytes\":\"bytes\"}"),
			SAMPLE("0", "\"rss_bytes\":2048") SAMPLE("1.5", "\"minflt\":1"),
			"Time\trss\twtime\n5\t2\t0\n6.5\t\t1.5\n", *state);
}

static void prmon_weights_a_gauge_by_the_time_to_the_next_sample(void **state)
{
	assert_summarized(META_WITH(""),
			  SAMPLE("0", "\"processes\":1,\"rss_bytes\":2048")
				  SAMPLE("0.8", "\"processes\":1,\"rss_bytes\":7168")
					  SAMPLE("0.9", "\"processes\":1,\"rss_bytes\":12288")
						  SAMPLE("1", "\"processes\":0,\"rss_bytes\":0"),
			  "{\"Avg\":{\"nprocs\":1,\"rss\":3.5}", *state);
}

static void prmon_averages_a_gauge_over_the_time_in_which_it_is_known(void **state)
{
	assert_summarized(META_WITH(""),
			  SAMPLE("0", "\"rss_bytes\":2048") SAMPLE("1", "\"processes\":1")
				  SAMPLE("2", "\"rss_bytes\":4096") SAMPLE("3", "\"rss_bytes\":0"),
			  "{\"Avg\":{\"nprocs\":1,\"rss\":3}", *state);
}

#define EXACT_PEAK                                                                                 \
	SAMPLE("0", "\"rss_bytes\":1048576")                                                       \
	"{\"kind\":\"summary\",\"wall_seconds\":2,\"rss_peak_bytes\":1048576,"                     \
	"\"rss_peak_elapsed_seconds\":0,\"rss_peak_exact_bytes\":3145728,"                         \
	"\"rss_peak_exact_elapsed_seconds\":0.5}\n"

static void peak_is_the_exact_one_if_known(void **state)
{
	assert_summarized(META_WITH(""), EXACT_PEAK, "\"Max\":{\"rss\":3072,", *state);
	assert_exported("rmonitor", META_WITH(""), EXACT_PEAK, "\"memory\":[3,\"MB\"]", *state);
	assert_exported("rmonitor", META_WITH(""), EXACT_PEAK,
			"\"peak_times\":{\"memory\":[0.5,\"s\"]", *state);
}

/* Still running, or cut off: how long the process had lived before is not known. */
static void attachment_without_records_has_the_mean_rates_of_the_attachment(void **state)
{
	static const char meta[] = META_WITH(",\"attached\":{\"pids\":[7]},"
					     "\"baseline\":{\"rchar_bytes\":1000}");

	assert_exported("prmon", meta, SAMPLE("2", "\"rchar_bytes\":6"), "7\t1006\t2\n", *state);
	assert_summarized(meta, SAMPLE("2", "\"rchar_bytes\":6"), "{\"Avg\":{\"rchar\":3}", *state);
}

static void only_counters_and_processes_of_the_start_count_for_the_time_before(void **state)
{
	static const char meta[] = META_WITH(",\"attached\":{\"pids\":[7]},"
					     "\"baseline\":{\"minflt\":1,\"rss_bytes\":4096}");

	assert_exported("prmon", meta,
			SAMPLE("2", "\"rss_bytes\":2048") "{\"kind\":\"process\",\"pid\":7,\"start_"
							  "time\":3,\"joined_time\":6}\n"
							  "{\"kind\":\"process\",\"pid\":8,\"start_"
							  "time\":6,\"joined_time\":4}\n"
							  "{\"kind\":\"process\",\"pid\":9,\"start_"
							  "time\":4,\"joined_time\":5}\n",
			"Time\trss\twtime\n7\t2\t3\n", *state);
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
		PLACE_TEST(rmonitor_rounds_memory_up),
		PLACE_TEST(prmon_has_no_column_of_a_metric_never_read),
		PLACE_TEST(prmon_weights_a_gauge_by_the_time_to_the_next_sample),
		PLACE_TEST(prmon_averages_a_gauge_over_the_time_in_which_it_is_known),
		PLACE_TEST(peak_is_the_exact_one_if_known),
		PLACE_TEST(attachment_without_records_has_the_mean_rates_of_the_attachment),
		PLACE_TEST(only_counters_and_processes_of_the_start_count_for_the_time_before),
		cmocka_unit_test(a_format_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
