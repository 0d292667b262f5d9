// SPDX-License-Identifier: BSD-2-Clause
/* What each option takes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"
#include "measure/optional.h"
#include "measure/program_type.h"

static void assert_interval(const char *text, uint64_t ns)
{
	struct run_options o;

	assert_parsed(&o, "-i", (char *)text, "--", "true");
	assert_int_equal(o.recording.interval_ns, ns);
}

static void assert_no_interval(const char *text)
{
	assert_refused("--interval does not accept", "-i", (char *)text, "--", "true");
}

static void defaults_are_a_second_and_all_metrics_that_cost_nothing(void **state)
{
	struct metric_set all;
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--", "true");
	metric_set_default(&all);
	assert_int_equal(o.recording.interval_ns, 1000000000);
	assert_memory_equal(&o.recording.wanted, &all, sizeof(all));
	assert_int_equal(o.recording.nr_outputs, 0);
	assert_false(o.recording.quiet || o.recording.verbose || o.recording.force ||
		     o.recording.no_args || o.wait_tree);
	assert_false(o.own_cgroup || o.recording.record_as_root || o.switch_user || o.common.help ||
		     o.common.version);
	assert_int_equal(o.recording.max_tasks, 0);
	assert_int_equal(o.recording.inject_misses, 0);
	assert_int_equal(o.recording.pss_ppm, 0);
}

static void process_samples_are_off_or_up_to_a_thousand(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--", "true");
	assert_int_equal(o.recording.process_samples, 0);
	assert_parsed(&o, "--process-samples", "1000", "--", "true");
	assert_int_equal(o.recording.process_samples, 1000);
	assert_parsed(&o, "--process-samples", "20", "--process-samples", "0", "--", "true");
	assert_int_equal(o.recording.process_samples, 0);
	assert_refused("--process-samples does not accept '1001'", "--process-samples=1001", "--",
		       "true");
	assert_refused("--process-samples does not accept '-1'", "--process-samples=-1", "--",
		       "true");
	assert_refused("--process-samples does not accept ''", "--process-samples=", "--", "true");
}

static void intervals_are_seconds_fractions_or_milliseconds(void **state)
{
	(void)state;
	assert_interval("1", 1000000000);
	assert_interval("2s", 2000000000);
	assert_interval("0.1", 100000000);
	assert_interval(".5", 500000000);
	assert_interval("10ms", 10000000);
	assert_interval("0.01", 10000000);
	assert_interval("1500ms", 1500000000);
	assert_interval("604800", 604800000000000);
}

static void intervals_that_are_too_short_or_long_are_refused(void **state)
{
	(void)state;
	assert_no_interval("0");
	assert_no_interval("9ms");
	assert_no_interval("0.009999");
	assert_no_interval("604801");
	assert_no_interval("1e300");
}

static void intervals_that_are_no_number_are_refused(void **state)
{
	(void)state;
	assert_no_interval("");
	assert_no_interval(".");
	assert_no_interval("-1");
	assert_no_interval("+1");
	assert_no_interval(" 1");
	assert_no_interval("1 ");
	assert_no_interval("1m");
	assert_no_interval("1sec");
	assert_no_interval("inf");
	assert_no_interval("nan");
	assert_no_interval("1,5");
}

static void flags_are_set(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "-q", "-v", "--force", "--no-args", "--", "true");
	assert_true(o.recording.quiet && o.recording.verbose && o.recording.force &&
		    o.recording.no_args);
	assert_parsed(&o, "-qv", "--", "true");
	assert_true(o.recording.quiet && o.recording.verbose);
}

static void wait_takes_command_or_tree(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--wait", "tree", "--", "true");
	assert_true(o.wait_tree);
	assert_parsed(&o, "--wait=tree", "--wait=command", "--", "true");
	assert_false(o.wait_tree);
	assert_refused("'forever'", "--wait=forever", "--", "true");
}

static void user_may_be_named(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--user=ada", "--", "true");
	assert_true(o.switch_user);
	assert_string_equal(o.user, "ada");
	assert_parsed(&o, "--user", "--", "true");
	assert_true(o.switch_user);
	assert_null(o.user);
	assert_string_equal(o.common.words[0], "true");
	assert_refused("--user", "--user=", "--", "true");
}

static void record_as_takes_only_root(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--record-as", "root", "--", "true");
	assert_true(o.recording.record_as_root);
	assert_refused("'ada'", "--record-as", "ada", "--", "true");
}

static void numbers_have_limits(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--max-tasks", "2097151", "--inject-misses=999", "--inject-free-misses=1",
		      "--", "true");
	assert_int_equal(o.recording.max_tasks, 2097151);
	assert_int_equal(o.recording.inject_misses, 999);
	assert_int_equal(o.recording.inject_free_misses, 1);
	assert_refused("'0'", "--max-tasks=0", "--", "true");
	assert_refused("'2097152'", "--max-tasks=2097152", "--", "true");
	assert_refused("'99999999999999999999'", "--max-tasks=99999999999999999999", "--", "true");
	assert_refused("'1k'", "--max-tasks=1k", "--", "true");
	assert_refused("'-1'", "--max-tasks=-1", "--", "true");
	assert_refused("'1000'", "--inject-misses=1000", "--", "true");
}

static void programs_to_refuse_are_known_ones(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--inject-no-program=oom__victim", "--inject-no-program=peak__rss:attach",
		      "--", "true");
	assert_int_equal(o.recording.refusals.loading, OPTIONAL_BIT(OPTIONAL_OOM));
	assert_int_equal(o.recording.refusals.attaching, OPTIONAL_BIT(OPTIONAL_EXACT_PEAK));
	assert_parsed(&o, "--inject-no-program=iter/task", "--", "true");
	assert_int_equal(o.recording.refusals.types, program_type_bits("iter/task"));
	assert_refused("'peak'", "--inject-no-program=peak", "--", "true");
	assert_refused("'fexit:attach'", "--inject-no-program=fexit:attach", "--", "true");
	assert_refused("'follow__exit'", "--inject-no-program=follow__exit", "--", "true");
	assert_refused("'oom__victim:load'", "--inject-no-program=oom__victim:load", "--", "true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(defaults_are_a_second_and_all_metrics_that_cost_nothing),
		OPTIONS_TEST(intervals_are_seconds_fractions_or_milliseconds),
		OPTIONS_TEST(intervals_that_are_too_short_or_long_are_refused),
		OPTIONS_TEST(intervals_that_are_no_number_are_refused),
		OPTIONS_TEST(process_samples_are_off_or_up_to_a_thousand),
		OPTIONS_TEST(flags_are_set),
		OPTIONS_TEST(wait_takes_command_or_tree),
		OPTIONS_TEST(user_may_be_named),
		OPTIONS_TEST(record_as_takes_only_root),
		OPTIONS_TEST(numbers_have_limits),
		OPTIONS_TEST(programs_to_refuse_are_known_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
