// SPDX-License-Identifier: BSD-2-Clause
/* Which metrics the options ask for. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"

static void metrics_are_chosen_by_group_and_key(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--metrics", "io,rss_bytes", "--", "true");
	assert_true(metric_has(&o.recording.wanted, M_rss));
	assert_true(metric_has(&o.recording.wanted, M_syscr));
	assert_false(metric_has(&o.recording.wanted, M_cpu));
	assert_refused("nonsense", "--metrics=nonsense", "--", "true");
}

static void own_cgroup_brings_its_metrics(void **state)
{
	struct metric_set all;
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--own-cgroup", "--", "true");
	metric_set_default(&all);
	metric_set_put_source(&all, SOURCE_CGROUP);
	assert_true(o.own_cgroup);
	assert_memory_equal(&o.recording.wanted, &all, sizeof(all));
}

static void chosen_metrics_stay_as_chosen_with_an_own_cgroup(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--own-cgroup", "--metrics=mem", "--", "true");
	assert_true(metric_has(&o.recording.wanted, M_rss));
	assert_false(metric_has(&o.recording.wanted, M_cgroup_memory));
	assert_parsed(&o, "--metrics=cgroup_memory_bytes", "--", "true");
	assert_true(metric_has(&o.recording.wanted, M_cgroup_memory));
}

static void pss_takes_two_percent_by_default(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--pss", "--", "true");
	assert_int_equal(o.recording.pss_ppm, 20000);
	assert_parsed(&o, "--pss=0.5", "--", "true");
	assert_int_equal(o.recording.pss_ppm, 5000);
	assert_parsed(&o, "--pss=50%", "--", "true");
	assert_int_equal(o.recording.pss_ppm, 500000);
}

static void pss_takes_neither_all_the_time_nor_none(void **state)
{
	(void)state;
	assert_refused("--pss does not accept '0'", "--pss=0", "--", "true");
	assert_refused("--pss does not accept '0.09'", "--pss=0.09", "--", "true");
	assert_refused("--pss does not accept '51'", "--pss=51", "--", "true");
	assert_refused("--pss does not accept '-1'", "--pss=-1", "--", "true");
	assert_refused("--pss does not accept 'nan'", "--pss=nan", "--", "true");
	assert_refused("--pss does not accept '2x'", "--pss=2x", "--", "true");
	assert_refused("--pss does not accept '.'", "--pss=.", "--", "true");
	assert_refused("--pss does not accept ''", "--pss=", "--", "true");
}

static void pss_adds_its_metrics(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--pss", "--metrics", "rss_bytes", "--", "true");
	assert_true(metric_has(&o.recording.wanted, M_rss));
	assert_true(metric_has(&o.recording.wanted, M_pss));
	assert_true(metric_has(&o.recording.wanted, M_uss));
	assert_true(metric_has(&o.recording.wanted, M_pss_unread));
	assert_false(metric_has(&o.recording.wanted, M_cpu));
}

static void metric_of_pss_asks_for_the_reading(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--metrics", "mem,pss_bytes", "--", "true");
	assert_int_equal(o.recording.pss_ppm, 20000);
	assert_true(metric_has(&o.recording.wanted, M_pss));
	assert_false(metric_has(&o.recording.wanted, M_uss));
	assert_parsed(&o, "--pss=7", "--metrics", "uss_bytes", "--", "true");
	assert_int_equal(o.recording.pss_ppm, 70000);
	assert_false(metric_has(&o.recording.wanted, M_pss));
}

static void group_of_metrics_does_not_ask_for_pss(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--metrics", "mem", "--", "true");
	assert_int_equal(o.recording.pss_ppm, 0);
	assert_false(metric_set_has_source(&o.recording.wanted, SOURCE_PROCFS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(metrics_are_chosen_by_group_and_key),
		OPTIONS_TEST(own_cgroup_brings_its_metrics),
		OPTIONS_TEST(chosen_metrics_stay_as_chosen_with_an_own_cgroup),
		OPTIONS_TEST(pss_takes_two_percent_by_default),
		OPTIONS_TEST(pss_takes_neither_all_the_time_nor_none),
		OPTIONS_TEST(pss_adds_its_metrics),
		OPTIONS_TEST(metric_of_pss_asks_for_the_reading),
		OPTIONS_TEST(group_of_metrics_does_not_ask_for_pss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
