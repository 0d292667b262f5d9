// SPDX-License-Identifier: BSD-2-Clause
/* Subcommands: each is its rows, its struct, and one row in the list of all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options/common_options.h"
#include "options/option_values.h"
#include "options_fixture.h"

#include <stdio.h>

struct wait_options {
	struct common_options common;
	struct store_options store;
	uint64_t time_ns;
	bool loud;
};

static const struct option_row wait_rows[] = {
	{ "time", 't', "TIME", false, "So long", duration_parse,
	  offsetof(struct wait_options, time_ns), GUARD_NONE },
	{ "loud", 0, NULL, false, "Ring", flag_parse, offsetof(struct wait_options, loud),
	  GUARD_TEST },
	{ 0 },
};

static const struct option_group wait_groups[] = {
	{ wait_rows, 0, false },
	{ store_rows, offsetof(struct wait_options, store), true },
	{ common_rows, offsetof(struct wait_options, common), false },
	{ 0 },
};

static const struct subcommand subcommand_wait = {
	.words = { .most = 1 },
	.groups = wait_groups,
	.options_bytes = sizeof(struct wait_options),
};

static int wait_parse(struct wait_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return options_parse(&subcommand_wait, o, argc, argv);
}

static void rows_of_a_subcommand_fill_in_its_struct(void **state)
{
	char *argv[] = { "wait", "--time=3", "--loud", "word", "--store", "a.sqlite", NULL };
	struct wait_options o;

	(void)state;
	assert_int_equal(wait_parse(&o, argv), 0);
	assert_int_equal(o.time_ns, 3000000000);
	assert_true(o.loud);
	assert_string_equal(o.store.path, "a.sqlite");
	assert_string_equal(o.common.words[0], "word");
	assert_null(o.common.words[1]);
}

static void only_groups_with_variables_look_into_the_environment(void **state)
{
	char *argv[] = { "wait", NULL };
	struct wait_options o;

	(void)state;
	setenv("BPFMON_TIME", "3", 1);
	setenv("BPFMON_HELP", "1", 1);
	setenv("BPFMON_STORE", "b.sqlite", 1);
	assert_int_equal(wait_parse(&o, argv), 0);
	assert_int_equal(o.time_ns, 0);
	assert_false(o.common.help);
	assert_string_equal(o.store.path, "b.sqlite");
}

static void help_has_the_rows_in_order_those_for_tests_aside(void **state)
{
	char said[SAID_BYTES] = "";
	int fd = memfd_create("stdout", MFD_CLOEXEC), saved = dup(STDOUT_FILENO);

	(void)state;
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	options_print(&subcommand_wait);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	assert_in_range(pread(fd, said, SAID_BYTES - 1, 0), 1, SAID_BYTES);
	close(saved);
	close(fd);
	assert_string_equal(said, "  -t, --time TIME                So long\n"
				  "      --store PATH               Use this file as the store\n"
				  "  -h, --help                     Show this help\n"
				  "  -V, --version                  Show the version\n");
}

static void rows_have_names_of_their_own(void **state)
{
	const struct option_row *row, *other;
	const struct option_group *group;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		for (size_t i = 0; (row = option_at(*sub, i, &group)); i++) {
			assert_in_range(i, 0, MAX_OPTIONS - 1);
			for (size_t k = 0; k < i; k++) {
				other = option_at(*sub, k, &group);
				assert_string_not_equal(row->name, other->name);
				assert_true(!row->key || row->key != other->key);
			}
		}
}

static void rows_have_help_that_fits_a_terminal(void **state)
{
	const struct option_group *group;
	const struct option_row *row;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		for (size_t i = 0; (row = option_at(*sub, i, &group)); i++)
			assert_in_range(strlen(row->help), 1, 80 - 15);
}

/* The description is of the values, and no repetition of the help. */
static void refused_values_have_a_description_of_what_is_accepted(void **state)
{
	const struct option_group *group;
	const struct option_row *row;
	size_t refused = 0;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		for (size_t i = 0; (row = option_at(*sub, i, &group)); i++) {
			if (!row->argument || option_takes(*sub, group, row, ""))
				continue;
			refused++;
			assert_string_not_equal(value_expectation(), "");
			assert_string_not_equal(value_expectation(), row->help);
		}
	assert_in_range(refused, 100, 1000);
}

/* Exactly one byte changes: the flag, which no other row and no pointer shares. */
static void flags_fill_in_a_byte_of_their_own(void **state)
{
	const struct option_group *group;
	const struct option_row *row;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++) {
		size_t bytes = (*sub)->options_bytes, flags = 0, set = 0;
		unsigned char *all = calloc(1, bytes + 1);

		for (size_t i = 0; (row = option_at(*sub, i, &group)); i++) {
			if (row->argument || row->parse == print_csv_parse)
				continue; /* --csv is another value of what --json sets */
			flags++;
			assert_int_equal(option_apply(all, group, row, NULL, row->name), 0);
		}
		for (size_t i = 0; i < bytes; i++)
			set += all[i];
		assert_int_equal(set, flags);
		free(all);
	}
}

/* A memory checker watches the end of the struct. */
static void values_stay_within_the_struct(void **state)
{
	static const char *const texts[] = { "1",    "a=b",         "tree",     "root",   "csv",
					     "7d",   "9K",          "phase",    "failed", "cpu",
					     "html", "oom__victim", "svg",      "json",   "85mm",
					     "auto", "slurm",       "wall,cpu", "bare",   "exact" };
	const struct option_group *group;
	const struct option_row *row;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		for (size_t i = 0; (row = option_at(*sub, i, &group)); i++) {
			char *all = malloc((*sub)->options_bytes);
			unsigned taken = 0;

			memset(all, 0, (*sub)->options_bytes);
			for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++)
				taken += !row->parse(all + group->offset + row->offset, texts[k]);
			assert_in_range(taken, 1, sizeof(texts) / sizeof(*texts));
			free(all);
		}
}

static void subcommands_have_names_and_summaries_of_their_own(void **state)
{
	size_t nr = 0;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++, nr++) {
		assert_non_null((*sub)->run);
		assert_int_equal(!(*sub)->groups, !(*sub)->help);
		assert_int_equal(!(*sub)->groups, !(*sub)->parse);
		if ((*sub)->name) {
			assert_ptr_equal(subcommand_find((*sub)->name), *sub);
			/* what only shells call is in no help */
			assert_int_equal(!(*sub)->summary, *sub == &subcommand_complete);
		}
	}
	assert_true(nr > 1);
	assert_null(subcommand_find("run"));
	assert_null(subcommand_find(""));
}

static size_t subcommands_with_alias(const char *word, size_t length)
{
	size_t nr = 0;

	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		for (const char *at = (*sub)->aliases; at && *at; at += strspn(at, " ")) {
			size_t n = strcspn(at, " ");

			nr += n == length && !memcmp(at, word, n);
			at += n;
		}
	return nr;
}

static void another_name_of_a_subcommand_is_not_that_of_one_and_belongs_to_one(void **state)
{
	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++) {
		const char *name = (*sub)->name;

		assert_int_equal(name ? subcommands_with_alias(name, strlen(name)) : 0, 0);
		for (const char *at = (*sub)->aliases; at && *at; at += strspn(at, " ")) {
			assert_int_equal(subcommands_with_alias(at, strcspn(at, " ")), 1);
			at += strcspn(at, " ");
		}
	}
}

static void words_are_counted_behind_the_first_one_too(void **state)
{
	static const struct first_word first[] = { { "now", NULL, 0 }, { "at", "when", 2 }, { 0 } };
	static const struct subcommand sub = {
		.name = "wait",
		.words = { .first = first },
		.groups = wait_groups,
		.options_bytes = sizeof(struct wait_options),
	};
	char *right[][6] = { { "wait", NULL },
			     { "wait", "now", NULL },
			     { "wait", "at", "1", "2", NULL } };
	char *wrong[][6] = { { "wait", "now", "1", NULL },
			     { "wait", "at", "1", "2", "3", NULL },
			     { "wait", "when", NULL } };
	struct wait_options o;

	(void)state;
	for (int i = 0; i < 3; i++) {
		int nr = 0;

		while (right[i][nr])
			nr++;
		assert_int_equal(options_parse(&sub, &o, nr, right[i]), 0);
		for (nr = 0; wrong[i][nr];)
			nr++;
		assert_int_equal(options_parse(&sub, &o, nr, wrong[i]), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(another_name_of_a_subcommand_is_not_that_of_one_and_belongs_to_one),
		OPTIONS_TEST(words_are_counted_behind_the_first_one_too),
		OPTIONS_TEST(rows_of_a_subcommand_fill_in_its_struct),
		OPTIONS_TEST(only_groups_with_variables_look_into_the_environment),
		OPTIONS_TEST(help_has_the_rows_in_order_those_for_tests_aside),
		OPTIONS_TEST(rows_have_names_of_their_own),
		OPTIONS_TEST(rows_have_help_that_fits_a_terminal),
		OPTIONS_TEST(refused_values_have_a_description_of_what_is_accepted),
		OPTIONS_TEST(flags_fill_in_a_byte_of_their_own),
		OPTIONS_TEST(values_stay_within_the_struct),
		OPTIONS_TEST(subcommands_have_names_and_summaries_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
