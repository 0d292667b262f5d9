// SPDX-License-Identifier: BSD-2-Clause
/* Numbers of lines as they were written: no double has all of their digits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/reader.h"

#include <stdio.h>
#include <string.h>

/* The value of the metric in a line with these members; UINT64_MAX: it has none. */
static uint64_t read_metric(const char *members, enum metric_id id)
{
	struct line l = { 0 };
	char text[512];
	uint64_t v;

	snprintf(text, sizeof(text), "{\"kind\":\"sample\",\"elapsed_seconds\":1%s}", members);
	assert_int_equal(line_read(&l, text, strlen(text)), 0);
	v = sample_has(&l.sample, id) ? l.sample.value[id] : UINT64_MAX;
	line_done(&l);
	return v;
}

static void decimals_are_scaled(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"cpu_seconds\":12.345", M_cpu), 12345000000);
	assert_int_equal(read_metric(",\"cpu_seconds\":0.000000001", M_cpu), 1);
	assert_int_equal(read_metric(",\"cpu_seconds\":12", M_cpu), 12000000000);
	assert_int_equal(read_metric(",\"minflt\":12", M_minflt), 12);
	assert_int_equal(read_metric(", \"cores\" :\t1.5\n", M_cores), 1500);
}

static void largest_number_fits_and_one_more_is_rounded(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"cpu_seconds\":18446744073.709551614", M_cpu),
			 UINT64_MAX - 1);
	assert_int_equal(read_metric(",\"cpu_seconds\":18446744073.709551615", M_cpu), UINT64_MAX);
	assert_int_equal(read_metric(",\"cpu_seconds\":18446744074", M_cpu), UINT64_MAX);
}

static void other_forms_of_numbers_are_read_as_doubles(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"cpu_seconds\":1.5e3", M_cpu), 1500000000000);
	assert_int_equal(read_metric(",\"cpu_seconds\":1E3", M_cpu), 1000000000000);
	assert_int_equal(read_metric(",\"cpu_seconds\":-1.5", M_cpu), UINT64_MAX);
	assert_int_equal(read_metric(",\"cpu_seconds\":0.0000000001", M_cpu), 0);
	assert_int_equal(read_metric(",\"minflt\":1.5", M_minflt), 2);
}

static void what_is_no_number_is_absent(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"cpu_seconds\":\"1.5\"", M_cpu), UINT64_MAX);
	assert_int_equal(read_metric(",\"cpu_seconds\":null", M_cpu), UINT64_MAX);
	assert_int_equal(read_metric(",\"cpu_seconds\":[1.5]", M_cpu), UINT64_MAX);
	assert_int_equal(read_metric("", M_cpu), UINT64_MAX);
}

static void only_members_of_the_outermost_object_are_found(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"a\":{\"minflt\":1},\"b\":[{\"minflt\":2}]", M_minflt),
			 UINT64_MAX);
	assert_int_equal(read_metric(",\"a\":{\"minflt\":1},\"minflt\":2", M_minflt), 2);
}

static void strings_that_look_like_the_member_are_passed_over(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"a\":\"minflt\"", M_minflt), UINT64_MAX);
	assert_int_equal(read_metric(",\"a\":\"\\\"minflt\\\":1\"", M_minflt), UINT64_MAX);
	assert_int_equal(read_metric(",\"minfl\":1,\"minfltt\":2,\"\\\\minflt\":3", M_minflt),
			 UINT64_MAX);
	assert_int_equal(read_metric(",\"a\":\"}{\\\\\",\"minflt\":2", M_minflt), 2);
}

static void of_two_members_the_last_counts(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"minflt\":1,\"minflt\":2", M_minflt), 2);
	assert_int_equal(read_metric(",\"minflt\":1,\"minflt\":null", M_minflt), UINT64_MAX);
}

static void a_key_may_be_escaped(void **state)
{
	(void)state;
	assert_int_equal(read_metric(",\"m\\u0069nflt\":7", M_minflt), 7);
}

/* What follows the 0 is not compared with what lies behind a known key. */
static void a_key_may_have_a_byte_of_0(void **state)
{
	static const char text[] =
		"{\"kind\":\"sample\",\"elapsed_seconds\":1,\"minflt\0abcdefghijklmno"
		"pqrstuvwxyz\":7,\"\0bcdefghijklmnop\":8}";
	struct line l = { 0 };

	(void)state;
	assert_int_not_equal(line_read(&l, text, sizeof(text) - 1), 0);
	assert_false(sample_has(&l.sample, M_minflt));
	line_done(&l);
}

/* The kind at the end, and the members of a process in the reverse order. */
static void the_order_of_members_does_not_matter(void **state)
{
	static const char text[] =
		"{\"lossy\":true,\"minflt\":7,\"cpu_seconds\":0.5,\"children_cpu_seconds\":2,"
		"\"rss_peak_exact\":true,\"rss_peak_bytes\":4096,\"execs\":3,\"threads_total\":4,"
		"\"signal\":null,\"exit_code\":5,\"end_time\":3.5,\"left_time\":3,"
		"\"joined_time\":2,\"start_time\":1.5,\"args_cut\":true,\"args\":[\"a\",\"\\n\"],"
		"\"exe\":\"/bin/a\",\"comm\":\"a\",\"span\":6,\"uid\":8,\"ppid\":9,\"ns_pid\":10,"
		"\"pid\":11,\"kind\":\"process\"}";
	struct line l = { 0 };
	const struct process *p = &l.process;

	(void)state;
	assert_int_equal(line_read_quick(&l, text, strlen(text)), 0);
	assert_int_equal(l.kind, LINE_PROCESS);
	assert_true(p->lossy && p->args_cut && p->has_ended);
	assert_true(p->has_rss_peak && p->rss_peak_exact);
	assert_int_equal(p->value[M_minflt], 7);
	assert_int_equal(p->value[M_cpu], 500000000);
	assert_int_equal(p->children_cpu_ns, 2000000000);
	assert_int_equal(p->rss_peak_bytes, 4096);
	assert_int_equal(p->execs, 3);
	assert_int_equal(p->threads_total, 4);
	assert_int_equal(p->exit_code, 5);
	assert_int_equal(p->end_epoch_ns, 3500000000);
	assert_int_equal(p->left_epoch_ns, 3000000000);
	assert_int_equal(p->joined_epoch_ns, 2000000000);
	assert_int_equal(p->start_epoch_ns, 1500000000);
	assert_memory_equal(p->args, "a\0\n\0", 4);
	assert_int_equal(p->args_length, 4);
	assert_string_equal(p->exe, "/bin/a");
	assert_string_equal(p->comm, "a");
	assert_int_equal(p->span, 6);
	assert_int_equal(p->uid, 8);
	assert_int_equal(p->ppid, 9);
	assert_int_equal(p->ns_pid, 10);
	assert_int_equal(p->pid, 11);
	line_done(&l);
}

/* The mean of drains needs their number, which comes behind it here. */
static void nor_does_it_in_a_summary(void **state)
{
	static const char text[] = "{\"kind\":\"summary\",\"self\":{\"drain_seconds_mean\":2,"
				   "\"drains\":3},\"oom_kills\":0,\"cpu_seconds\":1.5,"
				   "\"wall_seconds\":4,\"complete\":true}";
	struct line l = { 0 };

	(void)state;
	assert_int_equal(line_read(&l, text, strlen(text)), 0);
	assert_int_equal(summary_drain_ns_mean(&l.summary), 2000000000);
	assert_int_equal(l.summary.drains, 3);
	assert_true(l.summary.has_oom_kills);
	assert_true(l.summary.complete);
	assert_int_equal(l.summary.wall_ns, 4000000000);
	assert_int_equal(l.summary.total.value[M_cpu], 1500000000);
	line_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals_are_scaled),
		cmocka_unit_test(largest_number_fits_and_one_more_is_rounded),
		cmocka_unit_test(other_forms_of_numbers_are_read_as_doubles),
		cmocka_unit_test(what_is_no_number_is_absent),
		cmocka_unit_test(only_members_of_the_outermost_object_are_found),
		cmocka_unit_test(strings_that_look_like_the_member_are_passed_over),
		cmocka_unit_test(of_two_members_the_last_counts),
		cmocka_unit_test(a_key_may_be_escaped),
		cmocka_unit_test(a_key_may_have_a_byte_of_0),
		cmocka_unit_test(the_order_of_members_does_not_matter),
		cmocka_unit_test(nor_does_it_in_a_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
