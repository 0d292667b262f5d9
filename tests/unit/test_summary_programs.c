// SPDX-License-Identifier: BSD-2-Clause
/* What the processes of a run come to, program by program. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "summary_fixture.h"

/* Programs p0, p1, ... of one process each. */
static void add_programs(struct summary *s, size_t n)
{
	char exe[32];

	for (size_t i = 0; i < n; i++) {
		snprintf(exe, sizeof(exe), "p%zu", i);
		add_process(s, exe, 1, 0);
	}
}

static uint64_t processes_of_all(const struct summary *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nr_programs; i++)
		n += s->programs[i].processes;
	return n;
}

static void peak_of_all_is_never_below_that_of_one_process(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 1, M_rss, 10 * MIB);
	add_process(&s, "/bin/short", 1, 90 * MIB);
	s.process_rss_peak_exact = true;
	summary_finish(&s);
	assert_int_equal(s.rss_peak_bytes, 90 * MIB);
	assert_int_equal(s.process_rss_peak_bytes, 90 * MIB);
	summary_done(&s);
}

static void commands_of_one_file_are_programs_each(void **state)
{
	static const char *const comms[] = { "sort", "gzip", "sort" };
	struct process p = { .exe = "/usr/bin/busybox" };
	struct summary s = { 0 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(p.comm, sizeof(p.comm), "%s", comms[i]);
		assert_int_equal(summary_add_process(&s, &p), 0);
	}
	assert_int_equal(s.nr_programs, 2);
	assert_string_equal(s.programs[0].exe, "/usr/bin/busybox sort");
	assert_int_equal(s.programs[0].processes, 2);
	assert_string_equal(s.programs[1].exe, "/usr/bin/busybox gzip");
	summary_done(&s);
}

static void peak_that_may_be_of_another_time_is_no_lower_bound(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_sample(&s, 1, M_rss, 10 * MIB);
	add_process(&s, "/bin/old", 1, 90 * MIB);
	s.process_rss_peak_exact = false;
	summary_finish(&s);
	assert_int_equal(s.rss_peak_bytes, 10 * MIB);
	summary_done(&s);
}

static void exactness_is_that_of_the_largest_process(void **state)
{
	struct process bound = { .has_rss_peak = true, .rss_peak_bytes = 9 };
	struct process exact = { .has_rss_peak = true,
				 .rss_peak_bytes = 8,
				 .rss_peak_exact = true };
	struct summary s = { 0 };

	(void)state;
	summary_add_process(&s, &bound);
	summary_add_process(&s, &exact);
	assert_int_equal(s.process_rss_peak_bytes, 9);
	assert_false(s.process_rss_peak_exact);
	assert_false(s.programs[0].rss_peak_exact);
	summary_done(&s);
}

static void processes_of_one_program_are_added_up(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_process(&s, "/bin/cc", 3, 10);
	add_process(&s, "/bin/cc", 4, 30);
	add_process(&s, "/bin/cc", 5, 20);
	assert_int_equal(s.nr_programs, 1);
	assert_int_equal(s.programs[0].processes, 3);
	assert_int_equal(s.programs[0].value[M_cpu], 12);
	assert_int_equal(s.programs[0].rss_peak_bytes, 30);
	assert_false(metric_has(&s.programs[0].have, M_minflt));
	summary_done(&s);
}

static void delay_of_a_program_is_absent_unless_that_of_each_process_is_known(void **state)
{
	struct process known = { .exe = "/bin/cc", .value[M_blkio_delay] = 1 };
	struct process unknown = { .exe = "/bin/cc" };
	struct summary s = { 0 };

	(void)state;
	metric_put(&known.have, M_blkio_delay);
	summary_add_process(&s, &known);
	summary_add_process(&s, &unknown);
	summary_add_process(&s, &known);
	assert_false(metric_has(&s.programs[0].have, M_blkio_delay));
	summary_done(&s);
}

static void programs_that_are_not_known_are_one(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_process(&s, NULL, 3, 0);
	add_process(&s, NULL, 4, 0);
	assert_int_equal(s.nr_programs, 1);
	assert_null(s.programs[0].exe);
	assert_int_equal(s.programs[0].value[M_cpu], 7);
	summary_done(&s);
}

static void programs_are_sorted_by_cpu_time_then_count_then_name(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_process(&s, "b", 1, 0);
	add_process(&s, "a", 1, 0);
	add_process(&s, "twice", 1, 0);
	add_process(&s, "twice", 0, 0);
	add_process(&s, "heavy", 9, 0);
	summary_finish(&s);
	assert_string_equal(s.programs[0].exe, "heavy");
	assert_string_equal(s.programs[1].exe, "twice");
	assert_string_equal(s.programs[2].exe, "a");
	assert_string_equal(s.programs[3].exe, "b");
	summary_done(&s);
}

static void too_many_programs_are_counted_together(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_programs(&s, MAX_PROGRAMS + 100);
	assert_int_equal(s.nr_programs, MAX_PROGRAMS);
	assert_null(s.programs[MAX_PROGRAMS - 1].exe);
	assert_int_equal(s.programs[MAX_PROGRAMS - 1].processes, 101);
	assert_int_equal(processes_of_all(&s), MAX_PROGRAMS + 100);
	summary_done(&s);
}

static void known_program_is_still_found_among_too_many(void **state)
{
	struct summary s = { 0 };

	(void)state;
	add_programs(&s, MAX_PROGRAMS);
	add_process(&s, "p0", 1, 0);
	assert_int_equal(s.programs[0].processes, 2);
	summary_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_of_all_is_never_below_that_of_one_process),
		cmocka_unit_test(commands_of_one_file_are_programs_each),
		cmocka_unit_test(peak_that_may_be_of_another_time_is_no_lower_bound),
		cmocka_unit_test(exactness_is_that_of_the_largest_process),
		cmocka_unit_test(processes_of_one_program_are_added_up),
		cmocka_unit_test(delay_of_a_program_is_absent_unless_that_of_each_process_is_known),
		cmocka_unit_test(programs_that_are_not_known_are_one),
		cmocka_unit_test(programs_are_sorted_by_cpu_time_then_count_then_name),
		cmocka_unit_test(too_many_programs_are_counted_together),
		cmocka_unit_test(known_program_is_still_found_among_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
