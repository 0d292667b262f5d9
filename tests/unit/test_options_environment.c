// SPDX-License-Identifier: BSD-2-Clause
/* Options from the environment. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"

static void environment_stands_for_options(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_INTERVAL", "250ms", 1);
	setenv("BPFMON_NO_ARGS", "1", 1);
	setenv("BPFMON_OUTPUT", "csv:run", 1);
	assert_parsed(&o, "--", "true");
	assert_int_equal(o.recording.interval_ns, 250000000);
	assert_true(o.recording.no_args);
	assert_ptr_equal(o.recording.outputs[0].format, &csv_observer);
	assert_string_equal(o.recording.outputs[0].path, "run");
}

static void command_line_wins_over_the_environment(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_INTERVAL", "2", 1);
	assert_parsed(&o, "-i", "3", "--", "true");
	assert_int_equal(o.recording.interval_ns, 3000000000);
}

static void after_user_no_option_chooses_a_user(void **state)
{
	struct run_options o;

	(void)state;
	assert_refused("give it only once", "--user", "--user=root", "--", "true");
	assert_refused("give it only once", "--user=root", "--user", "--", "true");
	assert_refused("put it before --user", "--user", "--record-as", "root", "--", "true");
	assert_refused("put it before --user", "--user", "-q", "--record-as=root", "--", "true");
	assert_parsed(&o, "--record-as", "root", "--user", "--", "true");
	assert_true(o.recording.record_as_root && o.switch_user);
	setenv("BPFMON_RECORD_AS", "root", 1); /* who may set it is asked elsewhere */
	assert_parsed(&o, "--user", "--", "true");
}

static void output_of_the_command_line_takes_the_place_of_the_environments(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_OUTPUT", "default", 1);
	assert_parsed(&o, "--", "true");
	assert_true(o.recording.outputs_are_defaults);
	assert_parsed(&o, "-o", "a", "-o", "b", "--", "true");
	assert_false(o.recording.outputs_are_defaults);
	assert_int_equal(o.recording.nr_outputs, 2);
	assert_string_equal(o.recording.outputs[0].path, "a");
	assert_string_equal(o.recording.outputs[1].path, "b");
}

static void format_in_the_environment_needs_no_output(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_FORMAT", "csv", 1);
	assert_parsed(&o, "--", "true");
	assert_int_equal(o.recording.nr_outputs, 0);
	assert_parsed(&o, "-o", "run", "--", "true");
	assert_ptr_equal(o.recording.outputs[0].format, &csv_observer);
	assert_refused("-o run.csv", "-f", "csv", "--", "true");
}

static void empty_and_zero_in_the_environment_mean_unset(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_QUIET", "0", 1);
	setenv("BPFMON_VERBOSE", "", 1);
	setenv("BPFMON_INTERVAL", "", 1);
	assert_parsed(&o, "--", "true");
	assert_false(o.recording.quiet || o.recording.verbose);
	assert_int_equal(o.recording.interval_ns, 1000000000);
}

static void no_variable_falsifies_an_account(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_INJECT_MISSES", "500", 1);
	setenv("BPFMON_INJECT_NO_PROGRAM", "oom__victim", 1);
	assert_parsed(&o, "--", "true");
	assert_int_equal(o.recording.inject_misses, 0);
	assert_int_equal(o.recording.refusals.loading, 0);
}

static void mistake_in_the_environment_names_the_variable(void **state)
{
	(void)state;
	setenv("BPFMON_MAX_TASKS", "many", 1);
	assert_refused("BPFMON_MAX_TASKS does not accept 'many'", "--", "true");
}

/* BPFMON_VERSION is what an installer's script would call the release it fetches. */
static void version_in_the_environment_does_not_keep_the_command_from_running(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_VERSION", "0.1.0", 1);
	assert_parsed(&o, "--", "true");
	assert_false(o.common.version);
	assert_non_null(o.common.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(environment_stands_for_options),
		OPTIONS_TEST(command_line_wins_over_the_environment),
		OPTIONS_TEST(after_user_no_option_chooses_a_user),
		OPTIONS_TEST(output_of_the_command_line_takes_the_place_of_the_environments),
		OPTIONS_TEST(format_in_the_environment_needs_no_output),
		OPTIONS_TEST(empty_and_zero_in_the_environment_mean_unset),
		OPTIONS_TEST(no_variable_falsifies_an_account),
		OPTIONS_TEST(mistake_in_the_environment_names_the_variable),
		OPTIONS_TEST(version_in_the_environment_does_not_keep_the_command_from_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
