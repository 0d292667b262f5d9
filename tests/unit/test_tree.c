// SPDX-License-Identifier: BSD-2-Clause
/* What was read, written by the one writer: nothing in it steers a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/side.h"
#include "run/tree.h"

#include <string.h>

static void assert_written(const char *text, const char *expected)
{
	json_t *tree = json_loads(text, JSON_DECODE_ANY, NULL);
	struct jsonw j = { 0 };

	assert_non_null(tree);
	tree_write(&j, NULL, tree);
	assert_false(j.failed);
	assert_string_equal(j.text, expected);
	json_decref(tree);
	jsonw_done(&j);
}

static void control_characters_are_escaped_in_texts_and_in_keys(void **state)
{
	(void)state;
	assert_written("\"\xc2\x9b\xe2\x80\xae\x7f\"", "\"\\u009b\\u202e\\u007f\"");
	assert_written("{\"\xc2\x9b\":{\"\x7f\":[\"\xe2\x80\xae\"]}}",
		       "{\"\\u009b\":{\"\\u007f\":[\"\\u202e\"]}}");
}

static void every_kind_of_value_is_written_as_it_was_read(void **state)
{
	const char *text = "{\"a\":[1,-2,0.5,1e+300,true,false,null,\"x\",[],{}]}";

	(void)state;
	assert_written(text, text);
}

static void what_is_not_there_is_null(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_object(&j, NULL);
	tree_write(&j, "key", NULL);
	jsonw_object_end(&j);
	assert_string_equal(j.text, "{\"key\":null}");
	jsonw_done(&j);
}

/* As they are compared: what is nested deeper than facts go is one text. */
static void a_fact_that_is_no_text_is_written_by_it_too(void **state)
{
	json_t *from = json_loads("{\"a\":[{\"k\":\"\xe2\x80\xae\"},0.1,\"t\"]}", 0, NULL);
	json_t *to = json_object();

	(void)state;
	assert_int_equal(facts_add(to, from), 0);
	assert_string_equal(json_string_value(json_object_get(to, "a")),
			    "{\"k\":\"\\u202e\"} 0.1 t");
	json_decref(from);
	json_decref(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_escaped_in_texts_and_in_keys),
		cmocka_unit_test(every_kind_of_value_is_written_as_it_was_read),
		cmocka_unit_test(what_is_not_there_is_null),
		cmocka_unit_test(a_fact_that_is_no_text_is_written_by_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
