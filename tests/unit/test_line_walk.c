// SPDX-License-Identifier: BSD-2-Clause
/* Members of a line, taken where they are, against what jansson makes of the same line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/values.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The walk finds the members that jansson finds, with the same numbers. */
static void assert_walked(const char *text)
{
	json_t *tree = json_loads(text, 0, NULL);
	size_t nr = 0;
	struct line_walk w;

	assert_non_null(tree);
	for (line_walk_begin(&w, text); line_walk_next(&w); nr++) {
		char *key = strndup(w.key, w.key_length);
		const json_t *value = json_object_get(tree, key);

		assert_non_null(value);
		assert_true(line_walk_is_at(&w, key));
		if (json_is_number(value))
			assert_true(line_walk_number(&w) == json_number_value(value));
		else
			assert_true(isnan(line_walk_number(&w)));
		free(key);
	}
	assert_int_equal(nr, json_object_size(tree));
	json_decref(tree);
}

static void members_are_those_of_a_parser(void **state)
{
	(void)state;
	assert_walked("{}");
	assert_walked("{\"a\":1,\"b\":-2.5e3,\"c\":null,\"d\":true}");
	assert_walked(" { \"a\" : 1 ,\n\t\"b\" : [ 1 , 2 ] , \"c\" : { } } ");
	assert_walked("{\"a\":\"x\\\"},{\\\\\",\"b\":{\"a\":[\"]\",{\"b\":\"}\"}]},\"c\":3}");
	assert_walked("{\"a\":[[[]],{\"a\":{}}],\"b\":0.000000001}");
}

static void what_is_no_object_ends(void **state)
{
	static const char *const broken[] = {
		"",         "null",        "[1]",       "{",          "{\"",
		"{\"a",     "{\"a\"",      "{\"a\":",   "{\"a\":\"x", "{\"a\":[1,2",
		"{\"a\":{", "{\"a\":\"\\", "{\"a\" 1}", "{\"a\":}",   "{a:1}",
	};
	struct line_walk w;

	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		char *exact = strdup(broken[i]); /* what is read beyond it is noticed */

		line_walk_begin(&w, exact);
		assert_false(line_walk_next(&w));
		free(exact);
	}
}

static void what_is_no_finite_number_is_none(void **state)
{
	struct line_walk w;

	(void)state;
	line_walk_begin(&w, "{\"a\":1e999,\"b\":nan,\"c\":inf}");
	while (line_walk_next(&w))
		assert_true(isnan(line_walk_number(&w)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_those_of_a_parser),
		cmocka_unit_test(what_is_no_object_ends),
		cmocka_unit_test(what_is_no_finite_number_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
