// SPDX-License-Identifier: BSD-2-Clause
/* Files of options: what they may say, what wins, and what is refused with its line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options/settings.h"
#include "config/config.h"
#include "options_fixture.h"

static struct settings files[NR_USER_FILES];
static char why[CONFIG_WHY_BYTES];

static int settings_fill(int which, const char *text)
{
	struct settings *s = &files[which];

	settings_done(s);
	snprintf(s->path, sizeof(s->path), "%s", which == FILE_OF_USER ? "own" : "project");
	s->is_project = which == FILE_OF_PROJECT;
	return settings_parse(s, text, strlen(text), why, sizeof(why));
}

static int settings_release(void **state)
{
	(void)state;
	for (int i = 0; i < NR_USER_FILES; i++)
		settings_done(&files[i]);
	return 0;
}

static void assert_set(int which, const char *text)
{
	int err = settings_fill(which, text);

	assert_string_equal(why, "");
	assert_int_equal(err, 0);
}

static void assert_refused_text(int which, const char *text, const char *reason)
{
	assert_int_equal(settings_fill(which, text), -EINVAL);
	assert_memory_equal(why, reason, strlen(reason));
	assert_int_equal(files[which].nr, 0);
}

static void apply(struct run_options *o)
{
	memset(o, 0, sizeof(*o));
	assert_int_equal(settings_apply(files, &subcommand_run, o), 0);
}

static void keys_are_the_names_of_options(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_USER, "interval = 0.25\nprocess-samples=20\nmarks = yes\n"
				 "output = run.jsonl\n");
	apply(&o);
	assert_int_equal(o.recording.interval_ns, 250000000);
	assert_int_equal(o.recording.process_samples, 20);
	assert_true(o.push.marks);
	assert_string_equal(o.recording.output_text[0], "run.jsonl");
}

static void sections_are_subcommands(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_USER, "[run]\ninterval = 2\n[list]\nlimit = 3\nname = align\n[attach]\n"
				 "interval = 4\n");
	apply(&o);
	assert_int_equal(o.recording.interval_ns, 2000000000);
	assert_null(o.recording.name);
}

static void section_wins_over_what_is_before_any(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_USER, "interval = 1\n[run]\ninterval = 2\n");
	apply(&o);
	assert_int_equal(o.recording.interval_ns, 2000000000);
}

static void project_wins_over_the_user(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_USER, "[run]\nname = own\nquiet = yes\n");
	assert_set(FILE_OF_PROJECT, "name = align\n");
	apply(&o);
	assert_string_equal(o.recording.name, "align");
	assert_true(o.recording.quiet);
}

static void what_the_project_may_not_set_it_does_not_take_back(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_USER, "quiet = yes\npss = 5\ninterval = 2\n");
	assert_set(FILE_OF_PROJECT, "[run]\nquiet = no\npss = no\ninterval = 0.01\n");
	apply(&o);
	assert_true(o.recording.quiet);
	assert_int_equal(o.recording.pss_ppm, 50000);
	assert_int_equal(o.recording.interval_ns, 2000000000);
}

static void tags_of_both_files_are_added(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_USER, "tag = a=1\ntag = b=2\n");
	assert_set(FILE_OF_PROJECT, "tag = c=3\n");
	apply(&o);
	assert_int_equal(o.recording.tags.nr, 3);
}

static void variable_takes_the_place_of_files_even_to_turn_off(void **state)
{
	struct run_options o;

	(void)state;
	setenv("BPFMON_QUIET", "0", 1);
	setenv("BPFMON_INTERVAL", "5", 1);
	assert_set(FILE_OF_USER, "interval = 1\nquiet = yes\nverbose = yes\n");
	apply(&o);
	assert_int_equal(o.recording.interval_ns, 0);
	assert_false(o.recording.quiet);
	assert_true(o.recording.verbose);
}

static void unknown_keys_and_bad_values_name_file_and_line(void **state)
{
	(void)state;
	assert_refused_text(FILE_OF_USER, "\n# x\nintervall = 1\n",
			    "own:3: unknown option intervall; did you mean interval?");
	assert_refused_text(FILE_OF_USER, "interval = 1\ninterval = soon\n",
			    "own:2: interval = soon: expected a time, as in 1, 0.1 or 10ms");
	assert_refused_text(FILE_OF_USER, "quiet = maybe\n",
			    "own:1: quiet = maybe: expected yes or no");
	assert_refused_text(FILE_OF_USER, "columns = id\n",
			    "own:1: columns is an option of bpfmon list; write it below [list]");
	assert_refused_text(FILE_OF_USER, "[list]\ninterval = 1\n",
			    "own:2: [list] has no option interval; see bpfmon list --help");
	assert_refused_text(FILE_OF_USER, "[lists]\n",
			    "own:1: unknown section [lists]; did you mean [list]?");
	assert_refused_text(FILE_OF_USER, "[nonsense]\n",
			    "own:1: unknown section [nonsense]; sections are [run] and");
	assert_refused_text(FILE_OF_USER, "nonsense = 1\n",
			    "own:1: unknown option nonsense; see bpfmon --help");
	assert_refused_text(FILE_OF_USER, "[list]\ncolums = id\n",
			    "own:2: [list] has no option colums; did you mean columns?");
	assert_refused_text(FILE_OF_USER, "[list]\nnonsense = 1\n",
			    "own:2: [list] has no option nonsense; see bpfmon list --help");
	assert_refused_text(FILE_OF_USER, "interval\n", "own:1: expected [SECTION] or KEY = VALUE");
}

static void help_tests_and_the_commands_of_spans_are_in_no_file(void **state)
{
	(void)state;
	assert_refused_text(FILE_OF_USER, "help = yes\n", "own:1: unknown option help");
	assert_refused_text(FILE_OF_USER, "inject-misses = 3\n",
			    "own:1: unknown option inject-misses");
	assert_refused_text(FILE_OF_USER, "[span]\n", "own:1: unknown section [span]");
	assert_refused_text(FILE_OF_USER, "[mark]\n", "own:1: unknown section [mark]");
	assert_refused_text(FILE_OF_USER, "[agent]\n", "own:1: unknown section [agent]");
}

/* Each of them can neither end, hide nor burden a run; as root only words of it are left. */
static void project_sets_harmless_options_only(void **state)
{
	static const char words[] = " name job tag note ",
			  views[] = " marks sort columns by all baseline fail-if significant "
				    "panel width for ";
	const struct option_group *group;
	const struct option_row *row;

	(void)state;
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		for (size_t i = 0; settings_are_for(*sub) && (row = option_at(*sub, i, &group));
		     i++) {
			char name[80];

			snprintf(name, sizeof(name), " %s ", row->name);
			if (row->guard <= PROJECT_MAY &&
			    !strstr(row->guard == PROJECT_MAY ? views : words, name))
				fail_msg("%s of %s", row->name, settings_section(*sub));
		}
}

static void project_ends_hides_burdens_and_chooses_nothing(void **state)
{
	static const char *const forbidden[] = {
		"limit = wall<0.1s",
		"limit = nonsense",
		"limit-grace = 0",
		"soft-limit = rss<1MiB",
		"wait = tree",
		"if-unavailable = fail",
		"require = exact",
		"exact-peak = yes",
		"block-io = yes",
		"max-tasks = 1",
		"pss = 50",
		"interval = 0.01",
		"process-samples = 1000",
		"net = yes",
		"no-store = yes",
		"quiet = yes",
		"no-args = yes",
		"metrics = cpu",
		"format = ''",
		"stalled-after = 0",
		"[attach]\nduration = 0.1",
		"[list]\nname = x",
		"[list]\nlimit = 1",
		"[show]\nformat = x",
		"[bench]\nruns = 2000",
		"output = x",
		"store = x",
		"force = yes",
		"user = bob",
		"agent = x",
		"record-as = root",
		"own-cgroup = yes",
		"metrics-udp = 1",
		"[attach]\npid = 1",
		"[attach]\ncgroup = x",
		"[attach]\ncontainer = x",
		"[report]\noutput = x",
		"[compare]\nhtml = x",
		"[export]\noutput = x",
		"[store]\nkeep = 0",
		"[bench]\nprepare = x",
		"[bench]\nshell = x",
		"[bench]\nexport-json = x",
		"[store]\nolder-than = 1d",
		"[list]\nagent = x",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
		const struct settings *s = &files[FILE_OF_PROJECT];

		assert_set(FILE_OF_PROJECT, forbidden[i]);
		assert_int_equal(s->nr, 1);
		assert_string_equal(setting_refusal(s, &s->list[0]),
				    "ignored: not allowed in a project's file");
	}
}

static void under_sudo_what_chooses_is_ignored(void **state)
{
	struct run_options o;

	(void)state;
	if (getuid()) {
		print_message("skipped: it needs root\n");
		skip();
	}
	setenv("SUDO_UID", "1000", 1);
	assert_set(FILE_OF_USER, "output = x\ninterval = 2\n");
	assert_non_null(setting_refusal(&files[0], &files[0].list[0]));
	assert_null(setting_refusal(&files[0], &files[0].list[1]));
	apply(&o);
	assert_int_equal(o.recording.nr_outputs, 0);
	assert_int_equal(o.recording.interval_ns, 2000000000);
}

static void as_root_a_project_only_names_and_tags(void **state)
{
	struct run_options o;

	(void)state;
	assert_set(FILE_OF_PROJECT, "marks = yes\nname = align\ntag = a=1\n");
	apply(&o);
	assert_int_equal(o.push.marks, getuid() != 0);
	assert_string_equal(o.recording.name, "align");
	assert_int_equal(o.recording.tags.nr, 1);
}

static void empty_file_sets_nothing(void **state)
{
	(void)state;
	assert_set(FILE_OF_USER, "");
	assert_set(FILE_OF_USER, "# interval = 3\n\n");
	assert_int_equal(files[0].nr, 0);
}

#define SETTINGS_TEST(test)                                                                        \
	cmocka_unit_test_setup_teardown(test, forget_environment, settings_release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTINGS_TEST(keys_are_the_names_of_options),
		SETTINGS_TEST(sections_are_subcommands),
		SETTINGS_TEST(section_wins_over_what_is_before_any),
		SETTINGS_TEST(project_wins_over_the_user),
		SETTINGS_TEST(tags_of_both_files_are_added),
		SETTINGS_TEST(variable_takes_the_place_of_files_even_to_turn_off),
		SETTINGS_TEST(unknown_keys_and_bad_values_name_file_and_line),
		SETTINGS_TEST(help_tests_and_the_commands_of_spans_are_in_no_file),
		SETTINGS_TEST(project_sets_harmless_options_only),
		SETTINGS_TEST(what_the_project_may_not_set_it_does_not_take_back),
		SETTINGS_TEST(project_ends_hides_burdens_and_chooses_nothing),
		SETTINGS_TEST(as_root_a_project_only_names_and_tags),
		SETTINGS_TEST(under_sudo_what_chooses_is_ignored),
		SETTINGS_TEST(empty_file_sets_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
