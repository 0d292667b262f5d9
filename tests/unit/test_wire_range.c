// SPDX-License-Identifier: BSD-2-Clause
/* Numbers beyond what a run can hold: they are absent where they are read, and no arithmetic on
 * what is left is undefined, which the sanitizers watch here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/number.h"
#include "run/reader.h"
#include "run/rewriter.h"
#include "run/writer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void read_text(struct line *l, const char *text)
{
	*l = (struct line){ 0 };
	assert_int_equal(line_read(l, text, strlen(text)), 0);
}

static void metrics_beyond_the_range_are_absent(void **state)
{
	struct line l;

	(void)state;
	read_text(&l, "{\"kind\":\"sample\",\"elapsed_seconds\":1,\"cpu_seconds\":1e300,"
		      "\"read_bytes\":-5,\"rss_bytes\":-0.6,\"forks\":9223372036854775807,"
		      "\"write_bytes\":9300000000000000000.0,\"user_seconds\":18446744074}");
	assert_false(sample_has(&l.sample, M_cpu));
	assert_false(sample_has(&l.sample, M_read));
	assert_false(sample_has(&l.sample, M_rss));
	assert_false(sample_has(&l.sample, M_write));
	assert_false(sample_has(&l.sample, M_user));
	assert_true(sample_has(&l.sample, M_forks));
	assert_int_equal(l.sample.value[M_forks], INT64_MAX);
	line_done(&l);
}

static void times_beyond_the_range_are_none(void **state)
{
	struct line l;

	(void)state;
	read_text(&l, "{\"kind\":\"meta\",\"start_time\":18446744074}");
	assert_int_equal(l.start_epoch_ns, 0);
	line_done(&l);
	read_text(&l,
		  "{\"kind\":\"process\",\"start_time\":1e18,\"end_time\":-1,\"left_time\":1e300}");
	assert_int_equal(l.process.start_epoch_ns, 0);
	assert_int_equal(l.process.end_epoch_ns, 0);
	assert_int_equal(l.process.left_epoch_ns, 0);
	line_done(&l);
}

static void numbers_of_32_bits_are_not_cut(void **state)
{
	struct line l;

	(void)state;
	read_text(&l, "{\"kind\":\"process\",\"pid\":4294967297,\"ppid\":-3,\"uid\":4294967295,"
		      "\"exit_code\":-9223372036854775808,\"signal\":4294967305,\"execs\":1e30}");
	assert_int_equal(l.process.pid, 0);
	assert_int_equal(l.process.ppid, -3);
	assert_int_equal(l.process.uid, UINT32_MAX);
	assert_int_equal(l.process.exit_code, 0);
	assert_int_equal(l.process.signal, 0);
	assert_int_equal(l.process.execs, 0);
	line_done(&l);
}

static void summaries_keep_what_is_in_range(void **state)
{
	struct line l;

	(void)state;
	read_text(&l, "{\"kind\":\"summary\",\"wall_seconds\":1e200,\"rss_peak_bytes\":-1,"
		      "\"losses\":{\"a\":-1,\"b\":2},\"exit_code\":1e10,\"samples\":3,"
		      "\"self\":{\"drains\":9223372036854775807,\"drain_seconds_mean\":9}}");
	assert_int_equal(l.summary.wall_ns, 0);
	assert_false(l.summary.has_rss_peak);
	assert_int_equal(l.summary.nr_losses, 1);
	assert_int_equal(l.summary.samples, 3);
	assert_int_equal(l.summary.exit_code, 0);
	assert_int_equal(l.summary.drain_ns_total, UINT64_MAX);
	line_done(&l);
}

/* Else no reader of JSON would take the line: the parts are in range, their sum is not. */
static void a_sum_beyond_the_range_is_written_as_the_largest_number(void **state)
{
	const char *program =
		"{\"kind\":\"process\",\"exe\":\"/a\",\"minflt\":9000000000000000000}";
	struct summary total = { 0 };
	struct jsonw j = { 0 };
	struct line l, again;

	(void)state;
	read_text(&l, program);
	assert_int_equal(summary_add_process(&total, &l.process), 0);
	assert_int_equal(summary_add_process(&total, &l.process), 0);
	summary_finish(&total);
	write_summary(&j, &total);
	read_text(&again, j.text);
	assert_int_equal(again.kind, LINE_SUMMARY);
	assert_int_equal(again.summary.programs[0].value[M_minflt], NUMBER_MAX);
	line_done(&again);
	line_done(&l);
	summary_done(&total);
	jsonw_done(&j);
}

static void decimals_at_the_end_of_the_range_are_read_digit_by_digit(void **state)
{
	struct line l;

	(void)state;
	/* one more than the largest: no double tells them apart */
	read_text(&l, "{\"kind\":\"sample\",\"elapsed_seconds\":18446744073.709551616}");
	assert_int_equal(l.sample.elapsed_ns, UINT64_MAX);
	line_done(&l);
	read_text(&l, "{\"kind\":\"sample\",\"elapsed_seconds\":18446744073.709549999}");
	assert_int_equal(l.sample.elapsed_ns, 18446744073709549999U);
	line_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_beyond_the_range_are_absent),
		cmocka_unit_test(times_beyond_the_range_are_none),
		cmocka_unit_test(numbers_of_32_bits_are_not_cut),
		cmocka_unit_test(summaries_keep_what_is_in_range),
		cmocka_unit_test(a_sum_beyond_the_range_is_written_as_the_largest_number),
		cmocka_unit_test(decimals_at_the_end_of_the_range_are_read_digit_by_digit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
