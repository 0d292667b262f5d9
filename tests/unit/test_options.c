// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmd/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SAID_BYTES 512

static int forget_environment(void **state)
{
	(void)state;
	return clearenv();
}

/* What was said on stderr goes to @said. */
static int parse_line(struct options *o, char **argv, char said[SAID_BYTES])
{
	int fd = memfd_create("stderr", MFD_CLOEXEC), saved = dup(STDERR_FILENO), argc = 0, err;

	while (argv[argc])
		argc++;
	dup2(fd, STDERR_FILENO);
	err = options_parse(o, argc, argv);
	dup2(saved, STDERR_FILENO);
	memset(said, 0, SAID_BYTES);
	assert_in_range(pread(fd, said, SAID_BYTES - 1, 0), 0, SAID_BYTES);
	close(saved);
	close(fd);
	return err;
}

static void assert_line_with(const char *said, const char *part)
{
	if (!strstr(said, part))
		fail_msg("no %s in %s", part, said);
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
	assert_memory_equal(said, "bpfmon: ", 8);
}

static void parse_well(struct options *o, char **argv)
{
	char said[SAID_BYTES];

	assert_int_equal(parse_line(o, argv, said), 0);
	assert_string_equal(said, "");
}

/* One line is said, which has @part. */
static void parse_badly(const char *part, char **argv)
{
	char said[SAID_BYTES];
	struct options o;

	assert_int_equal(parse_line(&o, argv, said), -EINVAL);
	assert_line_with(said, part);
}

/* A command line lives as long as the block it is written in. */
#define assert_parsed(o, ...) parse_well(o, (char *[]){ "bpfmon", __VA_ARGS__, NULL })
#define assert_refused(part, ...) parse_badly(part, (char *[]){ "bpfmon", __VA_ARGS__, NULL })

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

static void assert_output(const char *text, const struct sink_ops *format, const char *path)
{
	struct options o;

	assert_parsed(&o, "-o", (char *)text, "true");
	assert_int_equal(o.nr_outputs, 1);
	assert_ptr_equal(o.outputs[0].format, format);
	assert_string_equal(o.outputs[0].path, path);
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
	assert_false(o.record_as_root || o.switch_user || o.help || o.version);
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

static void format_before_the_colon_wins(void **state)
{
	(void)state;
	assert_output("csv:run.jsonl", &csv_sink, "run.jsonl");
	assert_output("text:-", &text_sink, "-");
	assert_output("jsonl:a:b", &jsonl_sink, "a:b");
}

static void colon_after_no_format_belongs_to_the_path(void **state)
{
	(void)state;
	assert_output("c:/run.csv", &csv_sink, "c:/run.csv");
	assert_output("json:x", &jsonl_sink, "json:x");
	assert_output(":x", &jsonl_sink, ":x");
}

static void extension_means_a_format(void **state)
{
	(void)state;
	assert_output("run.csv", &csv_sink, "run.csv");
	assert_output("run.txt", &text_sink, "run.txt");
	assert_output("run.jsonl", &jsonl_sink, "run.jsonl");
}

static void output_that_tells_nothing_is_jsonl(void **state)
{
	(void)state;
	assert_output("run", &jsonl_sink, "run");
	assert_output("-", &jsonl_sink, "-");
}

static void format_option_is_before_the_extension(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "-o", "run.txt", "-o", "jsonl:b", "-f", "csv", "true");
	assert_ptr_equal(o.outputs[0].format, &csv_sink);
	assert_ptr_equal(o.outputs[1].format, &jsonl_sink);
}

static void formats_that_do_not_exist_are_refused(void **state)
{
	(void)state;
	assert_refused("--format does not take 'xml'", "-f", "xml", "-o", "x", "true");
}

static void format_without_output_says_what_to_do(void **state)
{
	(void)state;
	assert_refused("-o run.csv", "--format=csv", "true");
}

static void output_without_a_path_is_refused(void **state)
{
	(void)state;
	assert_refused("csv:", "-o", "csv:", "true");
	assert_refused("--output", "-o", "", "true");
}

static void sixteen_outputs_fit_and_one_more_is_refused(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "-oa", "-ob", "-oc", "-od", "-oe", "-of", "-og", "-oh", "-oi", "-oj",
		      "-ok", "-ol", "-om", "-on", "-oo", "-op", "true");
	assert_int_equal(o.nr_outputs, MAX_OUTPUTS);
	assert_refused("'q'", "-oa", "-ob", "-oc", "-od", "-oe", "-of", "-og", "-oh", "-oi", "-oj",
		       "-ok", "-ol", "-om", "-on", "-oo", "-op", "-oq", "true");
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

static void help_and_version_need_no_command(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "--help");
	assert_true(o.help);
	assert_parsed(&o, "-V");
	assert_true(o.version);
	assert_null(o.command);
}

static void command_is_never_parsed(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "-q", "--", "ls", "-v", "--", "--help");
	assert_string_equal(o.command[0], "ls");
	assert_string_equal(o.command[1], "-v");
	assert_string_equal(o.command[2], "--");
	assert_string_equal(o.command[3], "--help");
	assert_null(o.command[4]);
	assert_false(o.verbose || o.help);
}

static void first_word_that_is_no_option_begins_the_command(void **state)
{
	struct options o;

	(void)state;
	assert_parsed(&o, "ls", "-v", "--force");
	assert_string_equal(o.command[0], "ls");
	assert_false(o.verbose || o.force);
}

static void no_command_is_refused(void **state)
{
	(void)state;
	assert_refused("no command", "-q");
	assert_refused("no command", "--");
	assert_refused("no command", "-q", "--");
}

static void unknown_options_are_refused_and_named(void **state)
{
	(void)state;
	assert_refused("'--nonsense'", "--nonsense", "true");
	assert_refused("'--nonsense=3'", "--nonsense=3", "true");
	assert_refused("'-x'", "-x", "true");
}

/* The last test: after it getopt stands in the middle of a word, which only optind = 0 forgets. */
static void unknown_letter_among_others_is_refused_and_named(void **state)
{
	(void)state;
	assert_refused("'-x'", "-qxv", "true");
}

static void options_that_could_be_two_are_refused(void **state)
{
	(void)state;
	assert_refused("'--in'", "--in", "1", "true");
}

static void missing_and_superfluous_values_are_refused(void **state)
{
	(void)state;
	assert_refused("'-i'", "-i");
	assert_refused("'--output'", "--output");
	assert_refused("'--quiet=3'", "--quiet=3", "true");
}

static void environment_stands_for_options(void **state)
{
	struct options o;

	(void)state;
	setenv("BPFMON_INTERVAL", "250ms", 1);
	setenv("BPFMON_NO_ARGS", "1", 1);
	setenv("BPFMON_OUTPUT", "csv:run", 1);
	assert_parsed(&o, "true");
	assert_int_equal(o.interval_ns, 250000000);
	assert_true(o.no_args);
	assert_ptr_equal(o.outputs[0].format, &csv_sink);
	assert_string_equal(o.outputs[0].path, "run");
}

static void command_line_wins_over_the_environment(void **state)
{
	struct options o;

	(void)state;
	setenv("BPFMON_INTERVAL", "2", 1);
	assert_parsed(&o, "-i", "3", "true");
	assert_int_equal(o.interval_ns, 3000000000);
}

static void empty_and_zero_in_the_environment_mean_unset(void **state)
{
	struct options o;

	(void)state;
	setenv("BPFMON_QUIET", "0", 1);
	setenv("BPFMON_VERBOSE", "", 1);
	setenv("BPFMON_INTERVAL", "", 1);
	assert_parsed(&o, "true");
	assert_false(o.quiet || o.verbose);
	assert_int_equal(o.interval_ns, 1000000000);
}

static void mistake_in_the_environment_names_the_variable(void **state)
{
	(void)state;
	setenv("BPFMON_MAX_TASKS", "many", 1);
	assert_refused("BPFMON_MAX_TASKS does not take 'many'", "true");
}

/* BPFMON_VERSION is what an installer's script would call the release it fetches. */
static void version_in_the_environment_does_not_keep_the_command_from_running(void **state)
{
	struct options o;

	(void)state;
	setenv("BPFMON_VERSION", "0.1.0", 1);
	assert_parsed(&o, "true");
	assert_false(o.version);
	assert_non_null(o.command);
}

static void rows_have_names_of_their_own(void **state)
{
	(void)state;
	for (size_t i = 0; options_row(i); i++) {
		for (size_t k = 0; k < i; k++) {
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

#define OPTIONS_TEST(test) cmocka_unit_test_setup(test, forget_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(defaults_are_a_second_and_all_metrics_that_cost_nothing),
		OPTIONS_TEST(intervals_are_seconds_fractions_or_milliseconds),
		OPTIONS_TEST(intervals_that_are_too_short_or_long_are_refused),
		OPTIONS_TEST(intervals_that_are_no_number_are_refused),
		OPTIONS_TEST(format_before_the_colon_wins),
		OPTIONS_TEST(colon_after_no_format_belongs_to_the_path),
		OPTIONS_TEST(extension_means_a_format),
		OPTIONS_TEST(output_that_tells_nothing_is_jsonl),
		OPTIONS_TEST(format_option_is_before_the_extension),
		OPTIONS_TEST(formats_that_do_not_exist_are_refused),
		OPTIONS_TEST(format_without_output_says_what_to_do),
		OPTIONS_TEST(output_without_a_path_is_refused),
		OPTIONS_TEST(sixteen_outputs_fit_and_one_more_is_refused),
		OPTIONS_TEST(metrics_are_chosen_by_group_and_key),
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
		OPTIONS_TEST(help_and_version_need_no_command),
		OPTIONS_TEST(command_is_never_parsed),
		OPTIONS_TEST(first_word_that_is_no_option_begins_the_command),
		OPTIONS_TEST(no_command_is_refused),
		OPTIONS_TEST(unknown_options_are_refused_and_named),
		OPTIONS_TEST(options_that_could_be_two_are_refused),
		OPTIONS_TEST(missing_and_superfluous_values_are_refused),
		OPTIONS_TEST(environment_stands_for_options),
		OPTIONS_TEST(command_line_wins_over_the_environment),
		OPTIONS_TEST(empty_and_zero_in_the_environment_mean_unset),
		OPTIONS_TEST(mistake_in_the_environment_names_the_variable),
		OPTIONS_TEST(version_in_the_environment_does_not_keep_the_command_from_running),
		OPTIONS_TEST(rows_have_names_of_their_own),
		OPTIONS_TEST(rows_have_help_that_fits_a_terminal),
		OPTIONS_TEST(unknown_letter_among_others_is_refused_and_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
