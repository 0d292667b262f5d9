// SPDX-License-Identifier: BSD-2-Clause
/* Tags of the command line and of the environment. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options_fixture.h"

#include <stdbool.h>
#include <stdio.h>

static void put_into_environment(int variables)
{
	char name[32];

	for (int i = 0; i < variables; i++) {
		snprintf(name, sizeof(name), "BPFMON_TAG_k%d", i);
		setenv(name, "v", 1);
	}
}

static bool has_tag(const struct run_options *o, const char *tag)
{
	for (size_t i = 0; i < o->recording.tags.nr; i++)
		if (!strcmp(o->recording.tags.list[i], tag))
			return true;
	return false;
}

/* One line of warning is said, which has @part. */
static void assert_warned(struct run_options *o, const char *part, char **argv)
{
	char said[SAID_BYTES];

	assert_int_equal(parse_line(o, argv, said), 0);
	assert_line_with(said, part);
}

static void tags_of_both_are_taken(void **state)
{
	struct run_options o;

	(void)state;
	put_into_environment(2);
	setenv("BPFMON_TAG", "default=d", 1);
	assert_parsed(&o, "--tag", "a=b", "--", "true");
	assert_int_equal(o.recording.tags.nr, 4);
	assert_true(has_tag(&o, "a=b") && has_tag(&o, "k0=v") && has_tag(&o, "default=d"));
}

static void the_last_tag_of_the_command_line_wins(void **state)
{
	struct run_options o;

	(void)state;
	put_into_environment(1);
	assert_parsed(&o, "--tag", "k0=first", "--tag", "k0=last", "--", "true");
	assert_int_equal(o.recording.tags.nr, 1);
	assert_true(has_tag(&o, "k0=last"));
}

static void a_full_environment_leaves_room_for_the_command_line(void **state)
{
	struct run_options o;

	(void)state;
	put_into_environment(MAX_TAGS);
	assert_warned(&o, "ignored from the environment (BPFMON_TAG_...): 1",
		      (char *[]){ "bpfmon", "--tag", "a=b", "--", "true", NULL });
	assert_int_equal(o.recording.tags.nr, MAX_TAGS);
	assert_true(has_tag(&o, "a=b"));
}

static void tags_left_out_of_the_environment_are_reported_once(void **state)
{
	struct run_options o;

	(void)state;
	put_into_environment(MAX_TAGS + 6);
	assert_warned(&o,
		      "a run has at most 64 tags, each of less than 4096 bytes; ignored from the "
		      "environment (BPFMON_TAG_...): 6",
		      (char *[]){ "bpfmon", "--", "true", NULL });
	assert_int_equal(o.recording.tags.nr, MAX_TAGS);
}

static void a_full_environment_is_silent(void **state)
{
	struct run_options o;

	(void)state;
	put_into_environment(MAX_TAGS);
	assert_parsed(&o, "--", "true");
	assert_parsed(&o, "--tag", "k3=other", "--", "true");
	assert_int_equal(o.recording.tags.nr, MAX_TAGS);
}

static void too_many_on_the_command_line_are_refused_with_the_limit(void **state)
{
	static char texts[MAX_TAGS + 1][16];
	char *argv[2 * (MAX_TAGS + 1) + 4] = { "bpfmon" };

	(void)state;
	for (size_t i = 0; i <= MAX_TAGS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "k%zu=v", i);
		argv[1 + 2 * i] = "--tag";
		argv[2 + 2 * i] = texts[i];
	}
	argv[1 + 2 * (MAX_TAGS + 1)] = "--";
	argv[2 + 2 * (MAX_TAGS + 1)] = "true";
	parse_badly("--tag does not accept 'k64=v': a run has at most 64 tags", argv);
}

static void a_word_of_a_run_has_less_than_4_kib(void **state)
{
	char tag[RUN_WORD_BYTES + 1], said[SAID_BYTES];
	struct run_options o;

	(void)state;
	memset(tag, 'v', sizeof(tag));
	memcpy(tag, "k=", 2);
	tag[RUN_WORD_BYTES] = '\0';
	assert_int_equal(
		parse_line(&o, (char *[]){ "bpfmon", "--tag", tag, "--", "true", NULL }, said),
		-EINVAL);
	assert_line_with(said, "--tag does not accept texts of more than 4095 bytes");
	assert_int_equal(
		parse_line(&o, (char *[]){ "bpfmon", "--name", tag, "--", "true", NULL }, said),
		-EINVAL);
	assert_line_with(said, "--name does not accept texts of more than 4095 bytes");
	setenv("BPFMON_TAG_k", tag + 3, 1);
	setenv("BPFMON_TAG_l", tag, 1);
	assert_warned(&o, "ignored from the environment (BPFMON_TAG_...): 1",
		      (char *[]){ "bpfmon", "--name", tag + 1, "--", "true", NULL });
}

static void what_is_no_tag_is_refused_with_the_help(void **state)
{
	(void)state;
	assert_refused("--tag does not accept 'a': it expects KEY=VALUE", "--tag", "a", "--",
		       "true");
	assert_refused("--tag does not accept '=b'", "--tag", "=b", "--", "true");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPTIONS_TEST(tags_of_both_are_taken),
		OPTIONS_TEST(the_last_tag_of_the_command_line_wins),
		OPTIONS_TEST(a_full_environment_leaves_room_for_the_command_line),
		OPTIONS_TEST(tags_left_out_of_the_environment_are_reported_once),
		OPTIONS_TEST(a_full_environment_is_silent),
		OPTIONS_TEST(too_many_on_the_command_line_are_refused_with_the_limit),
		OPTIONS_TEST(a_word_of_a_run_has_less_than_4_kib),
		OPTIONS_TEST(what_is_no_tag_is_refused_with_the_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
