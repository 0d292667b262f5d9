// SPDX-License-Identifier: BSD-2-Clause
/* The meta line with another name, note or tags: all else stays byte by byte. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/rewriter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "{\"kind\":\"meta\",\"x\" : [1.10,{\"name\":\"in\"},\"a\\\"},\"],\"run\":\"u\","
#define TAIL "\"start_time\":1763690000.100000,\"deep\":{\"tags\":{},\"note\":1e3}}\n"

static int edit(const char *text, const struct meta_changes *c, char **got)
{
	struct jsonw j = { 0 };
	json_t *meta;
	int err = meta_edit(&j, text, strlen(text), c, &meta);

	*got = j.text ? strndup(j.text, j.used) : NULL;
	jsonw_done(&j);
	json_decref(meta);
	return err;
}

static void assert_edited(const char *text, const struct meta_changes *c, const char *wanted)
{
	char *got;

	assert_int_equal(edit(text, c, &got), 0);
	assert_string_equal(got, wanted);
	free(got);
}

static void assert_not_edited(const char *text, const struct meta_changes *c, int err)
{
	char *got;

	assert_int_equal(edit(text, c, &got), err);
	free(got);
}

static void what_is_there_is_replaced_in_its_place(void **state)
{
	const char *const tags[] = { "b=3", "c=x=y", "a=" };
	const struct meta_changes c = { "new \"n\"", "n2", tags, 3, 0 };

	(void)state;
	assert_edited(HEAD
		      "\"name\":\"old\",\"note\":\"n1\",\"tags\":{\"a\":\"1\",\"b\":\"2\"}," TAIL,
		      &c,
		      HEAD "\"name\":\"new \\\"n\\\"\",\"note\":\"n2\","
			   "\"tags\":{\"b\":\"3\",\"c\":\"x=y\"}," TAIL);
}

static void what_is_missing_comes_last(void **state)
{
	const char *const tags[] = { "a=1" };
	const struct meta_changes c = { "n", "t", tags, 1, 0 };

	(void)state;
	assert_edited("{\"kind\":\"meta\"}", &c,
		      "{\"kind\":\"meta\",\"name\":\"n\",\"note\":\"t\",\"tags\":{\"a\":\"1\"}}");
	assert_edited("{}\n", &c, "{\"name\":\"n\",\"note\":\"t\",\"tags\":{\"a\":\"1\"}}\n");
}

static void empty_texts_remove(void **state)
{
	const struct meta_changes c = { "", "", NULL, 0, 0 };

	(void)state;
	assert_edited(HEAD "\"name\":\"old\",\"note\":\"n1\",\"tags\":{\"a\":\"1\"}," TAIL, &c,
		      HEAD "\"name\":null,\"tags\":{\"a\":\"1\"}," TAIL);
}

static void nothing_changes_nothing(void **state)
{
	const struct meta_changes c = { 0 };

	(void)state;
	assert_edited(HEAD "\"name\":null,\"tags\":{}," TAIL, &c,
		      HEAD "\"name\":null,\"tags\":{}," TAIL);
	assert_edited(" { \"a\" : 1 , \"b\":[ ] } ", &c, "{\"a\" : 1 ,\"b\":[ ] } ");
}

static void what_no_line_can_have_is_refused(void **state)
{
	static char text[65][8];
	const char *many[65], *bad[] = { "a" };
	struct meta_changes c = { .tags = many, .nr_tags = 65 };

	(void)state;
	for (size_t i = 0; i < 65; i++) {
		snprintf(text[i], sizeof(text[i]), "k%zu=v", i);
		many[i] = text[i];
	}
	assert_not_edited("{}", &c, -E2BIG);
	c.nr_tags = 64;
	assert_not_edited("{}", &c, 0);
	assert_not_edited("{\"tags\":{\"more\":\"1\"}}", &c, -E2BIG);
	c = (struct meta_changes){ .tags = bad, .nr_tags = 1 };
	assert_not_edited("{}", &c, -EINVAL);
	c = (struct meta_changes){ .note = "caf\xe9" };
	assert_not_edited("{}", &c, -EILSEQ);
	assert_not_edited("[]", &c, -EBADMSG);
	assert_not_edited("{", &c, -EBADMSG);
}

static void an_edit_says_when_it_was_and_is_later_than_the_one_before(void **state)
{
	const struct meta_changes c = { NULL, "n", NULL, 0, 1763690001123456789 };

	(void)state;
	assert_edited("{\"run\":\"u\"}\n", &c,
		      "{\"run\":\"u\",\"note\":\"n\",\"edited_time\":1763690001.123456}\n");
	assert_edited("{\"edited_time\":1.5,\"run\":\"u\"}\n", &c,
		      "{\"edited_time\":1763690001.123456,\"run\":\"u\",\"note\":\"n\"}\n");
	assert_edited("{\"edited_time\":1900000000.25,\"note\":\"m\"}\n", &c,
		      "{\"edited_time\":1900000000.250001,\"note\":\"n\"}\n");
}

static char *words_taken(const char *text, const char *from, int wanted)
{
	json_t *other = json_loads(from, 0, NULL), *meta;
	struct jsonw j = { 0 };
	char *got;

	assert_int_equal(meta_copy_edits(&j, text, strlen(text), other, &meta), wanted);
	got = strndup(j.text ? j.text : "", j.used);
	jsonw_done(&j);
	json_decref(meta);
	json_decref(other);
	return got;
}

static void words_of_another_place_replace_all_of_ours(void **state)
{
	char *got = words_taken(HEAD "\"name\":\"old\",\"note\":\"n\",\"tags\":{\"a\":\"1\"}," TAIL,
				"{\"run\":\"other\",\"name\":null,\"tags\":{\"b\":\"2\"},"
				"\"start_time\":1,\"edited_time\":5.25}",
				0);

	(void)state;
	assert_string_equal(got, HEAD
			    "\"name\":null,\"tags\":{\"b\":\"2\"},"
			    "\"start_time\":1763690000.100000,\"deep\":{\"tags\":{},\"note\":1e3},"
			    "\"edited_time\":5.25}\n");
	free(got);
}

static void words_of_another_kind_are_not_taken(void **state)
{
	static const char *const wrong[] = {
		"{\"name\":1}",         "{\"note\":null}",    "{\"note\":[]}",
		"{\"tags\":{\"a\":1}}", "{\"tags\":\"a=b\"}", "{\"edited_time\":\"now\"}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		free(words_taken(HEAD "\"name\":\"x\"}\n", wrong[i], -EBADMSG));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_replaced_in_its_place),
		cmocka_unit_test(an_edit_says_when_it_was_and_is_later_than_the_one_before),
		cmocka_unit_test(words_of_another_place_replace_all_of_ours),
		cmocka_unit_test(words_of_another_kind_are_not_taken),
		cmocka_unit_test(what_is_missing_comes_last),
		cmocka_unit_test(empty_texts_remove),
		cmocka_unit_test(nothing_changes_nothing),
		cmocka_unit_test(what_no_line_can_have_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
