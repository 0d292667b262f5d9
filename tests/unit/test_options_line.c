// SPDX-License-Identifier: BSD-2-Clause
/* Where the options end and the command begins, and words that are no options. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"

static void help_and_version_need_no_command(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "--help");
	assert_true(o.common.help);
	assert_parsed(&o, "-V");
	assert_true(o.common.version);
	assert_null(o.common.words);
}

/* getopt(3) remembers where in a word of several letters it was. */
static void a_line_is_parsed_from_its_start_after_one_that_was_refused_within_a_word(void **state)
{
	struct run_options o;

	(void)state;
	assert_refused("'-x'", "-qxv", "--", "true");
	assert_parsed(&o, "--", "true");
	assert_false(o.recording.verbose || o.recording.quiet);
	assert_string_equal(o.common.words[0], "true");
}

static void command_is_never_parsed(void **state)
{
	struct run_options o;

	(void)state;
	assert_parsed(&o, "-q", "--", "ls", "-v", "--", "--help");
	assert_string_equal(o.common.words[0], "ls");
	assert_string_equal(o.common.words[1], "-v");
	assert_string_equal(o.common.words[2], "--");
	assert_string_equal(o.common.words[3], "--help");
	assert_null(o.common.words[4]);
	assert_false(o.recording.verbose || o.common.help);
}

static void command_without_dashes_is_refused_with_what_to_type(void **state)
{
	(void)state;
	assert_refused(" bpfmon -- ls -v --force\n", "ls", "-v", "--force");
	assert_refused("the command must follow '--': bpfmon -i 1 -- make\n", "-i", "1", "make");
	assert_refused("bpfmon -q --user -- make 'a b' '' 'it'\\''s' '~'\n", "-q", "--user", "make",
		       "a b", "", "it's", "~");
	assert_refused("did you mean 'list'? To run a program of that name: bpfmon -- lsit\n",
		       "lsit");
	assert_refused("'store remove'? To run a program of that name: bpfmon -- rm 24\n", "rm",
		       "24");
	assert_refused("there is no 'run' subcommand; use: bpfmon -- make\n", "run", "--", "make");
}

static void subcommand_behind_options_is_refused_with_what_to_type(void **state)
{
	(void)state;
	assert_refused("subcommand: bpfmon list --store X --json\n", "--store", "X", "list",
		       "--json");
	assert_refused("try: bpfmon list; to run a program of that name: bpfmon -i 1 -- list\n",
		       "-i", "1", "list");
}

static void dashes_are_no_value_unless_they_are_in_the_word_of_the_option(void **state)
{
	struct run_options o;

	(void)state;
	assert_refused("after '--name'", "--name", "--", "true");
	assert_refused("after '-o'", "-o", "--", "true");
	assert_parsed(&o, "--name=--", "--", "true");
	assert_string_equal(o.recording.name, "--");
	assert_refused("the command must follow '--'", "--name=--", "true");
}

static void long_line_that_is_shown_is_cut(void **state)
{
	static char word[1000];

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	assert_refused("bpfmon -q -- a b ...\n", "-q", "a", "b", word, "c");
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
	assert_refused("'--nonsense'", "--nonsense", "--", "true");
	assert_refused("'--nonsense=3'", "--nonsense=3", "--", "true");
	assert_refused("'-x'", "-x", "--", "true");
	assert_refused("'--nmae'; did you mean '--name'?", "--nmae", "a", "--", "true");
	assert_refused("'-output'; did you mean '--output'?", "-output", "a", "--", "true");
	assert_refused("'bpfmon attach' has it", "--pid", "7", "--", "true");
	assert_refused("did you mean 'rss_bytes'?", "--metrics", "cpu,rss_byts", "--", "true");
	assert_refused("did you mean 'jsonl'?", "-f", "josnl", "--", "true");
}

static void options_that_could_be_two_are_refused(void **state)
{
	(void)state;
	assert_refused("'--in'", "--in", "1", "--", "true");
}

static void missing_and_superfluous_values_are_refused(void **state)
{
	(void)state;
	assert_refused("'-i'", "-i");
	assert_refused("'--output'", "--output");
	assert_refused("'--quiet=3'", "--quiet=3", "--", "true");
}

/* The last test: after it getopt stands in the middle of a word, which only optind = 0 forgets. */
static void unknown_letter_among_others_is_refused_and_named(void **state)
{
	(void)state;
	assert_refused("'-x'", "-qxv", "--", "true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(help_and_version_need_no_command),
		OPTIONS_TEST(command_is_never_parsed),
		cmocka_unit_test(
			a_line_is_parsed_from_its_start_after_one_that_was_refused_within_a_word),
		OPTIONS_TEST(command_without_dashes_is_refused_with_what_to_type),
		OPTIONS_TEST(subcommand_behind_options_is_refused_with_what_to_type),
		OPTIONS_TEST(dashes_are_no_value_unless_they_are_in_the_word_of_the_option),
		OPTIONS_TEST(long_line_that_is_shown_is_cut),
		OPTIONS_TEST(no_command_is_refused),
		OPTIONS_TEST(unknown_options_are_refused_and_named),
		OPTIONS_TEST(options_that_could_be_two_are_refused),
		OPTIONS_TEST(missing_and_superfluous_values_are_refused),
		OPTIONS_TEST(unknown_letter_among_others_is_refused_and_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
