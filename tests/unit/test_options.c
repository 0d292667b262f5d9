// SPDX-License-Identifier: BSD-2-Clause
/* What each option takes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"

static void assert_interval(const char *text, uint64_t ns)
{
	struct options o;

	assert_parsed(&o, "-i", (char *)text, "true");
	assert_int_equal(o.interval_ns, ns);
}

static void assert_no_interval(const char *text)
{
	assert_refused("--interval does not take", "-i", (char *)text, "true");
}

static void defaults_are_a_second_and_all_metrics_that_cost_nothing(void **state)
{
	struct metric_set all;
	struct options o;

	(void)state;
	assert_parsed(&o, "--", "true");
	metric_set_default(&all);
	assert_int_equal(o.interval_ns, 1000000000);
	assert_memory_equal(&o.wanted, &all, sizeof(all));
	assert_int_equal(o.nr_outputs, 0);
	assert_false(o.quiet || o.verbose || o.force || o.no_args || o.wait_tree);
	assert_false(o.own_cgroup || o.record_as_root || o.switch_user || o.help || o.version);
	assert_int_equal(o.max_tasks, 0);
	assert_int_equal(o.inject_misses, 0);
	assert_int_equal(o.pss_ppm, 0);
}

static void pss_takes_two_percent_unless_it_is_told(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--pss", "true");
	assert_int_equal(o.pss_ppm, 20000);
	assert_parsed(&o, "--pss=0.5", "true");
	assert_int_equal(o.pss_ppm, 5000);
	assert_parsed(&o, "--pss=50%", "true");
	assert_int_equal(o.pss_ppm, 500000);
}

static void process_samples_are_off_or_up_to_a_thousand(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--", "true");
	assert_int_equal(o.process_samples, 0);
	assert_parsed(&o, "--process-samples", "1000", "true");
	assert_int_equal(o.process_samples, 1000);
	assert_parsed(&o, "--process-samples", "20", "--process-samples", "0", "true");
	assert_int_equal(o.process_samples, 0);
	assert_refused("--process-samples does not take '1001'", "--process-samples=1001", "true");
	assert_refused("--process-samples does not take '-1'", "--process-samples=-1", "true");
	assert_refused("--process-samples does not take ''", "--process-samples=", "true");
}

static void pss_takes_neither_all_the_time_nor_none(void **state)
{
	(void)state;
	assert_refused("--pss does not take '0'", "--pss=0", "true");
	assert_refused("--pss does not take '0.09'", "--pss=0.09", "true");
	assert_refused("--pss does not take '51'", "--pss=51", "true");
	assert_refused("--pss does not take '-1'", "--pss=-1", "true");
	assert_refused("--pss does not take 'nan'", "--pss=nan", "true");
	assert_refused("--pss does not take '2x'", "--pss=2x", "true");
	assert_refused("--pss does not take '.'", "--pss=.", "true");
	assert_refused("--pss does not take ''", "--pss=", "true");
}

static void pss_adds_its_metrics(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--pss", "--metrics", "rss_bytes", "true");
	assert_true(metric_has(&o.wanted, M_rss));
	assert_true(metric_has(&o.wanted, M_pss));
	assert_true(metric_has(&o.wanted, M_uss));
	assert_true(metric_has(&o.wanted, M_pss_unread));
	assert_false(metric_has(&o.wanted, M_cpu));
}

static void metric_of_pss_asks_for_the_reading(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--metrics", "mem,pss_bytes", "true");
	assert_int_equal(o.pss_ppm, 20000);
	assert_true(metric_has(&o.wanted, M_pss));
	assert_false(metric_has(&o.wanted, M_uss));
	assert_parsed(&o, "--pss=7", "--metrics", "uss_bytes", "true");
	assert_int_equal(o.pss_ppm, 70000);
	assert_false(metric_has(&o.wanted, M_pss));
}

static void group_of_metrics_does_not_ask_for_pss(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--metrics", "mem", "true");
	assert_int_equal(o.pss_ppm, 0);
	assert_false(metric_set_has_source(&o.wanted, SOURCE_PROCFS));
}

static void own_cgroup_brings_its_metrics(void **state)
{
	struct metric_set all;
	struct options o;

	(void)state;
	assert_parsed(&o, "--own-cgroup", "true");
	metric_set_default(&all);
	metric_set_put_source(&all, SOURCE_CGROUP);
	assert_true(o.own_cgroup);
	assert_memory_equal(&o.wanted, &all, sizeof(all));
}

static void chosen_metrics_stay_as_chosen_with_an_own_cgroup(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--own-cgroup", "--metrics=mem", "true");
	assert_true(metric_has(&o.wanted, M_rss));
	assert_false(metric_has(&o.wanted, M_cgroup_memory));
	assert_parsed(&o, "--metrics=cgroup_memory_bytes", "true");
	assert_true(metric_has(&o.wanted, M_cgroup_memory));
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

static void metrics_are_chosen_by_group_and_key(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--metrics", "io,rss_bytes", "true");
	assert_true(metric_has(&o.wanted, M_rss));
	assert_true(metric_has(&o.wanted, M_syscr));
	assert_false(metric_has(&o.wanted, M_cpu));
	assert_refused("nonsense", "--metrics=nonsense", "true");
}

static void flags_are_set(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "-q", "-v", "--force", "--no-args", "true");
	assert_true(o.quiet && o.verbose && o.force && o.no_args);
	assert_parsed(&o, "-qv", "true");
	assert_true(o.quiet && o.verbose);
}

static void wait_takes_command_or_tree(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--wait", "tree", "true");
	assert_true(o.wait_tree);
	assert_parsed(&o, "--wait=tree", "--wait=command", "true");
	assert_false(o.wait_tree);
	assert_refused("'forever'", "--wait=forever", "true");
}

static void user_may_be_named(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--user=ada", "true");
	assert_true(o.switch_user);
	assert_string_equal(o.user, "ada");
	assert_parsed(&o, "--user", "true");
	assert_true(o.switch_user);
	assert_null(o.user);
	assert_string_equal(o.command[0], "true");
	assert_refused("--user", "--user=", "true");
}

static void record_as_takes_only_root(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--record-as", "root", "true");
	assert_true(o.record_as_root);
	assert_refused("'ada'", "--record-as", "ada", "true");
}

static void numbers_have_limits(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--max-tasks", "4194304", "--inject-misses=999", "true");
	assert_int_equal(o.max_tasks, 4194304);
	assert_int_equal(o.inject_misses, 999);
	assert_refused("'0'", "--max-tasks=0", "true");
	assert_refused("'4194305'", "--max-tasks=4194305", "true");
	assert_refused("'99999999999999999999'", "--max-tasks=99999999999999999999", "true");
	assert_refused("'1k'", "--max-tasks=1k", "true");
	assert_refused("'-1'", "--max-tasks=-1", "true");
	assert_refused("'1000'", "--inject-misses=1000", "true");
}

static void programs_to_refuse_are_known_ones(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--inject-no-program=locks", "--inject-no-program=peak__rss:attach",
		      "true");
	assert_int_equal(o.refused, OPTIONAL_BIT(OPTIONAL_LOCKS));
	assert_int_equal(o.unattached, OPTIONAL_BIT(OPTIONAL_EXACT_PEAK));
	assert_refused("'peak'", "--inject-no-program=peak", "true");
	assert_refused("'follow__exit'", "--inject-no-program=follow__exit", "true");
	assert_refused("'locks:attach'", "--inject-no-program=locks:attach", "true");
}

static void rows_have_names_of_their_own(void **state)
{
	(void)state;
	for (size_t i = 0; options_row(i); i++) {
		for (size_t k = 0; k < i; k++) {
			if (!(options_row(i)->scope & options_row(k)->scope))
				continue; /* never of the same command line */
			assert_string_not_equal(options_row(i)->name, options_row(k)->name);
			assert_true(!options_row(i)->key ||
				    options_row(i)->key != options_row(k)->key);
		}
	}
}

static void rows_have_help_that_fits_a_terminal(void **state)
{
	(void)state;
	for (size_t i = 0; options_row(i); i++)
		assert_in_range(strlen(options_row(i)->help), 1, 80 - 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(defaults_are_a_second_and_all_metrics_that_cost_nothing),
		OPTIONS_TEST(own_cgroup_brings_its_metrics),
		OPTIONS_TEST(chosen_metrics_stay_as_chosen_with_an_own_cgroup),
		OPTIONS_TEST(intervals_are_seconds_fractions_or_milliseconds),
		OPTIONS_TEST(intervals_that_are_too_short_or_long_are_refused),
		OPTIONS_TEST(intervals_that_are_no_number_are_refused),
		OPTIONS_TEST(metrics_are_chosen_by_group_and_key),
		OPTIONS_TEST(process_samples_are_off_or_up_to_a_thousand),
		OPTIONS_TEST(pss_takes_two_percent_unless_it_is_told),
		OPTIONS_TEST(pss_takes_neither_all_the_time_nor_none),
		OPTIONS_TEST(pss_adds_its_metrics),
		OPTIONS_TEST(metric_of_pss_asks_for_the_reading),
		OPTIONS_TEST(group_of_metrics_does_not_ask_for_pss),
		OPTIONS_TEST(flags_are_set),
		OPTIONS_TEST(wait_takes_command_or_tree),
		OPTIONS_TEST(user_may_be_named),
		OPTIONS_TEST(record_as_takes_only_root),
		OPTIONS_TEST(numbers_have_limits),
		OPTIONS_TEST(programs_to_refuse_are_known_ones),
		OPTIONS_TEST(rows_have_names_of_their_own),
		OPTIONS_TEST(rows_have_help_that_fits_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
