// SPDX-License-Identifier: BSD-2-Clause
/* Where the run goes, and in which format. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"

static void assert_output(const char *text, const struct observer_ops *format, const char *path)
{
	struct run_options o;

	assert_parsed(&o, "-o", (char *)text, "--", "true");
	assert_int_equal(o.recording.nr_outputs, 1);
	assert_ptr_equal(o.recording.outputs[0].format, format);
	assert_string_equal(o.recording.outputs[0].path, path);
}

static void format_before_the_colon_wins(void **state)
{
	(void)state;
	assert_output("csv:run.jsonl", &csv_observer, "run.jsonl");
	assert_output("text:-", &text_observer, "-");
	assert_output("jsonl:a:b", &jsonl_observer, "a:b");
}

static void colon_after_no_format_belongs_to_the_path(void **state)
{
	(void)state;
	assert_output("c:/run.csv", &csv_observer, "c:/run.csv");
	assert_output(":x", &jsonl_observer, ":x");
	assert_output("./json:x", &jsonl_observer, "./json:x");
	assert_output("run-12:30", &jsonl_observer, "run-12:30");
	assert_output("of/run:x", &jsonl_observer, "of/run:x");
}

static void formats_of_an_output_that_do_not_exist_are_refused(void **state)
{
	struct run_options o;

	(void)state;
	assert_refused("--output does not accept 'foo:run': there is no format 'foo', only text, "
		       "jsonl, csv and influx; a file of that name is ./foo:run",
		       "-o", "foo:run", "--", "true");
	assert_refused("there is no format 'json'; did you mean 'jsonl:x'? A file of that name is "
		       "./json:x",
		       "-o", "json:x", "--", "true");
	assert_refused("did you mean 'csv:-'?", "-o", "cvs:-", "--", "true");
	assert_refused("did you mean 'csv:run.csv'?", "-o", "cvs:run.csv", "--", "true");
	assert_parsed(&o, "-f", "csv", "-o", "foo:run", "--", "true");
	assert_string_equal(o.recording.outputs[0].path, "foo:run");
}

static void extension_means_a_format(void **state)
{
	(void)state;
	assert_output("run.csv", &csv_observer, "run.csv");
	assert_output("run.txt", &text_observer, "run.txt");
	assert_output("run.jsonl", &jsonl_observer, "run.jsonl");
}

static void an_output_without_any_hint_is_jsonl(void **state)
{
	(void)state;
	assert_output("run", &jsonl_observer, "run");
	assert_output("-", &jsonl_observer, "-");
}

static void format_option_is_before_the_extension(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "-o", "run.txt", "-o", "jsonl:b", "-f", "csv", "--", "true");
	assert_ptr_equal(o.recording.outputs[0].format, &csv_observer);
	assert_ptr_equal(o.recording.outputs[1].format, &jsonl_observer);
}

static void formats_that_do_not_exist_are_refused(void **state)
{
	(void)state;
	assert_refused("--format does not accept 'xml'", "-f", "xml", "-o", "x", "--", "true");
}

static void the_error_for_a_format_without_output_has_a_hint(void **state)
{
	(void)state;
	assert_refused("-o run.csv", "--format=csv", "--", "true");
}

static void an_extension_of_no_format_is_refused(void **state)
{
	(void)state;
	assert_refused("unknown extension; use one of text (.txt), jsonl (.jsonl), csv (.csv), or "
		       "name the format, as in jsonl:run.xlsx",
		       "-o", "run.xlsx", "--", "true");
	assert_refused("'a.b/run.json'", "-o", "a.b/run.json", "--", "true");
	assert_output("jsonl:run.xlsx", &jsonl_observer, "run.xlsx");
}

static void what_looks_like_no_extension_is_part_of_the_name(void **state)
{
	(void)state;
	assert_output("run.4711", &jsonl_observer, "run.4711");
	assert_output("tmp.kZqWvXyBnM", &jsonl_observer, "tmp.kZqWvXyBnM");
	assert_output("dir.d/run", &jsonl_observer, "dir.d/run");
	assert_output(".hidden", &jsonl_observer, ".hidden");
	assert_output("run.", &jsonl_observer, "run.");
}

static void a_format_with_a_percent_sign_or_brace_is_a_template(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "-f", "csv", "-f", "%e", "-o", "x", "--", "true");
	assert_string_equal(o.recording.template, "%e");
	assert_ptr_equal(o.recording.outputs[0].format, &csv_observer);
	assert_parsed(&o, "-f", "{wall_seconds}", "--", "true");
	assert_parsed(&o, "-q", "-f", "%e", "-o", "x.txt", "--", "true");
	assert_refused("did you mean {wall_seconds}?", "-f", "{wall_second}", "--", "true");
	assert_refused("no effect with --quiet", "-q", "-f", "%e", "-o", "x.csv", "--", "true");
}

static void output_without_a_path_is_refused(void **state)
{
	(void)state;
	assert_refused("csv:", "-o", "csv:", "--", "true");
	assert_refused("--output", "-o", "", "--", "true");
}

static void sixteen_outputs_fit_and_one_more_is_refused(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "-oa", "-ob", "-oc", "-od", "-oe", "-of", "-og", "-oh", "-oi", "-oj",
		      "-ok", "-ol", "-om", "-on", "-oo", "-op", "--", "true");
	assert_int_equal(o.recording.nr_outputs, MAX_OUTPUTS);
	assert_refused("'q'", "-oa", "-ob", "-oc", "-od", "-oe", "-of", "-og", "-oh", "-oi", "-oj",
		       "-ok", "-ol", "-om", "-on", "-oo", "-op", "-oq", "--", "true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(format_before_the_colon_wins),
		OPTIONS_TEST(colon_after_no_format_belongs_to_the_path),
		OPTIONS_TEST(formats_of_an_output_that_do_not_exist_are_refused),
		OPTIONS_TEST(extension_means_a_format),
		OPTIONS_TEST(an_output_without_any_hint_is_jsonl),
		OPTIONS_TEST(format_option_is_before_the_extension),
		OPTIONS_TEST(formats_that_do_not_exist_are_refused),
		OPTIONS_TEST(the_error_for_a_format_without_output_has_a_hint),
		OPTIONS_TEST(an_extension_of_no_format_is_refused),
		OPTIONS_TEST(what_looks_like_no_extension_is_part_of_the_name),
		OPTIONS_TEST(a_format_with_a_percent_sign_or_brace_is_a_template),
		OPTIONS_TEST(output_without_a_path_is_refused),
		OPTIONS_TEST(sixteen_outputs_fit_and_one_more_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
