// SPDX-License-Identifier: BSD-2-Clause
/* Which word a mistyped one was meant to be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/nearest.h"

#include <string.h>

static const char *nearest_of(const char *typed)
{
	static const char *const words[] = { "attach", "mark", "list", "show", "store", "compare" };
	struct nearest n;

	nearest_begin(&n, typed, strlen(typed));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		nearest_offer(&n, words[i]);
	return n.word;
}

static void one_mistake_of_each_kind_is_near(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("lsit"), "list");
	assert_string_equal(nearest_of("lit"), "list");
	assert_string_equal(nearest_of("liist"), "list");
	assert_string_equal(nearest_of("lost"), "list");
	assert_string_equal(nearest_of("list"), "list");
}

static void long_words_may_have_more_mistakes_than_short_ones(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("cmopaer"), "compare");
	assert_null(nearest_of("make"));
	assert_null(nearest_of("sort"));
	assert_null(nearest_of("rm"));
}

static void beginning_of_a_word_is_near_to_it(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("comp"), "compare");
	assert_string_equal(nearest_of("at"), "attach");
	assert_null(nearest_of("c"));
}

static void what_has_nothing_in_common_is_near_to_none(void **state)
{
	(void)state;
	assert_null(nearest_of(""));
	assert_null(nearest_of("x"));
	assert_null(nearest_of("/bin/true"));
	assert_null(
		nearest_of("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void nearer_word_goes_before_one_that_came_first(void **state)
{
	struct nearest n;

	(void)state;
	nearest_begin(&n, "rss_peek_bytes!", 14);
	nearest_offer(&n, "rss_bytes");
	nearest_offer(&n, "rss_pss_bytes");
	nearest_offer(&n, "rss_peak_bytes");
	nearest_offer(&n, "rss_puck_bytes");
	assert_string_equal(n.word, "rss_peak_bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_mistake_of_each_kind_is_near),
		cmocka_unit_test(long_words_may_have_more_mistakes_than_short_ones),
		cmocka_unit_test(beginning_of_a_word_is_near_to_it),
		cmocka_unit_test(what_has_nothing_in_common_is_near_to_none),
		cmocka_unit_test(nearer_word_goes_before_one_that_came_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
