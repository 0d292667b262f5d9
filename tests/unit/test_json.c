// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* What @n bytes become, between the quotes. */
static void assert_written(const char *bytes, size_t n, const char *expected, bool is_lossy)
{
	struct jsonw j = { 0 };

	jsonw_bytes(&j, NULL, bytes, n);
	assert_string_equal(j.text, expected);
	assert_int_equal(j.lossy, is_lossy);
	assert_false(j.failed);
	jsonw_done(&j);
}

static void quotes_and_backslashes_are_escaped(void **state)
{
	(void)state;
	assert_written("a\"b\\c", 5, "\"a\\\"b\\\\c\"", false);
}

static void control_characters_are_escaped(void **state)
{
	(void)state;
	assert_written("\n\t\x1b[1m\x7f", 7, "\"\\u000a\\u0009\\u001b[1m\\u007f\"", false);
}

static void controls_beyond_ascii_are_escaped(void **state)
{
	(void)state;
	assert_written("\xc2\x80\xc2\x9b"
		       "31m\xc2\x9f\xc2\xa0",
		       11, "\"\\u0080\\u009b31m\\u009f\xc2\xa0\"", false);
}

static void what_turns_the_direction_is_escaped(void **state)
{
	(void)state;
	assert_written("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", 8, "\"\\u061c\\u200e\\u200f\"", false);
	assert_written("\xe2\x80\xaa\xe2\x80\xae"
		       "exe.txt",
		       13, "\"\\u202a\\u202eexe.txt\"", false);
	assert_written("\xe2\x81\xa6\xe2\x81\xa9", 6, "\"\\u2066\\u2069\"", false);
}

static void neighbours_of_what_turns_the_direction_are_kept(void **state)
{
	const char *text =
		"\"\xd8\x9b\xd8\x9d\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5"
		"\xe2\x81\xaa\"";

	(void)state;
	assert_written(text + 1, strlen(text) - 2, text, false);
}

static void nul_in_the_middle_is_escaped(void **state)
{
	(void)state;
	assert_written("a\0b", 3, "\"a\\u0000b\"", false);
}

static void valid_utf8_of_every_length_is_kept(void **state)
{
	const char *text = "\x7e\xc2\xa0\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
			   "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf";
	char expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), "\"%s\"", text);
	assert_written(text, strlen(text), expected, false);
}

static void byte_that_begins_nothing_is_replaced(void **state)
{
	(void)state;
	assert_written("a\xff\x80z", 4, "\"a" REPLACEMENT REPLACEMENT "z\"", true);
}

static void sequence_cut_off_by_the_end_is_replaced(void **state)
{
	(void)state;
	assert_written("\xe2\x82", 2, "\"" REPLACEMENT REPLACEMENT "\"", true);
}

static void sequence_cut_off_by_a_letter_keeps_the_letter(void **state)
{
	(void)state;
	assert_written("\xc3z", 2, "\"" REPLACEMENT "z\"", true);
}

static void sequence_cut_off_by_a_quote_still_escapes_it(void **state)
{
	(void)state;
	assert_written("\xc3\"", 2, "\"" REPLACEMENT "\\\"\"", true);
}

static void overlong_slash_is_replaced(void **state)
{
	(void)state;
	assert_written("\xc0\xaf", 2, "\"" REPLACEMENT REPLACEMENT "\"", true);
}

static void overlong_form_of_three_bytes_is_replaced(void **state)
{
	(void)state;
	assert_written("\xe0\x9f\xbf", 3, "\"" REPLACEMENT REPLACEMENT REPLACEMENT "\"", true);
}

static void overlong_form_of_four_bytes_is_replaced(void **state)
{
	(void)state;
	assert_written("\xf0\x8f\xbf\xbf", 4,
		       "\"" REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT "\"", true);
}

static void surrogate_is_replaced(void **state)
{
	(void)state;
	assert_written("\xed\xa0\x80", 3, "\"" REPLACEMENT REPLACEMENT REPLACEMENT "\"", true);
}

static void code_point_beyond_unicode_is_replaced(void **state)
{
	(void)state;
	assert_written("\xf4\x90\x80\x80", 4,
		       "\"" REPLACEMENT REPLACEMENT REPLACEMENT REPLACEMENT "\"", true);
}

static void keys_are_escaped_too(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_object(&j, NULL);
	jsonw_uint(&j, "a\"b", 1);
	jsonw_object_end(&j);
	assert_string_equal(j.text, "{\"a\\\"b\":1}");
	jsonw_done(&j);
}

static void commas_stand_between_members_only(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_object(&j, NULL);
	jsonw_array(&j, "empty");
	jsonw_array_end(&j);
	jsonw_object(&j, "nothing");
	jsonw_object_end(&j);
	jsonw_array(&j, "list");
	jsonw_int(&j, NULL, -1);
	jsonw_bool(&j, NULL, true);
	jsonw_bool(&j, NULL, false);
	jsonw_null(&j, NULL);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	assert_string_equal(j.text, "{\"empty\":[],\"nothing\":{},\"list\":[-1,true,false,null]}");
	jsonw_done(&j);
}

static void lines_follow_each_other_without_comma(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_uint(&j, NULL, 1);
	jsonw_newline(&j);
	jsonw_uint(&j, NULL, 2);
	jsonw_newline(&j);
	assert_string_equal(j.text, "1\n2\n");
	jsonw_done(&j);
}

static void string_that_is_not_there_is_null(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_string(&j, NULL, NULL);
	assert_string_equal(j.text, "null");
	jsonw_done(&j);
}

static void reset_forgets_text_and_lossiness(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_string(&j, NULL, "\xff");
	jsonw_reset(&j);
	jsonw_uint(&j, NULL, 7);
	assert_string_equal(j.text, "7");
	assert_int_equal(j.used, 1);
	assert_false(j.lossy);
	jsonw_done(&j);
}

static void extreme_integers_are_written_whole(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_array(&j, NULL);
	jsonw_uint(&j, NULL, INT64_MAX);
	jsonw_int(&j, NULL, INT64_MIN);
	jsonw_array_end(&j);
	assert_string_equal(j.text, "[9223372036854775807,-9223372036854775808]");
	jsonw_done(&j);
}

/* jansson, as we read with it, refuses the whole line. */
static void no_integer_is_larger_than_readers_take(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_array(&j, NULL);
	jsonw_uint(&j, NULL, UINT64_MAX);
	jsonw_decimal(&j, NULL, UINT64_MAX, 9);
	jsonw_array_end(&j);
	assert_string_equal(j.text, "[9223372036854775807,18446744073.709551615]");
	jsonw_done(&j);
}

static void doubles_that_are_no_number_are_null(void **state)
{
	struct jsonw j = { 0 };

	(void)state;
	jsonw_array(&j, NULL);
	jsonw_double(&j, NULL, NAN);
	jsonw_double(&j, NULL, -INFINITY);
	jsonw_double(&j, NULL, -0.25);
	jsonw_array_end(&j);
	assert_string_equal(j.text, "[null,null,-0.25]");
	jsonw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_and_backslashes_are_escaped),
		cmocka_unit_test(control_characters_are_escaped),
		cmocka_unit_test(controls_beyond_ascii_are_escaped),
		cmocka_unit_test(what_turns_the_direction_is_escaped),
		cmocka_unit_test(neighbours_of_what_turns_the_direction_are_kept),
		cmocka_unit_test(nul_in_the_middle_is_escaped),
		cmocka_unit_test(valid_utf8_of_every_length_is_kept),
		cmocka_unit_test(byte_that_begins_nothing_is_replaced),
		cmocka_unit_test(sequence_cut_off_by_the_end_is_replaced),
		cmocka_unit_test(sequence_cut_off_by_a_letter_keeps_the_letter),
		cmocka_unit_test(sequence_cut_off_by_a_quote_still_escapes_it),
		cmocka_unit_test(overlong_slash_is_replaced),
		cmocka_unit_test(overlong_form_of_three_bytes_is_replaced),
		cmocka_unit_test(overlong_form_of_four_bytes_is_replaced),
		cmocka_unit_test(surrogate_is_replaced),
		cmocka_unit_test(code_point_beyond_unicode_is_replaced),
		cmocka_unit_test(keys_are_escaped_too),
		cmocka_unit_test(commas_stand_between_members_only),
		cmocka_unit_test(lines_follow_each_other_without_comma),
		cmocka_unit_test(string_that_is_not_there_is_null),
		cmocka_unit_test(reset_forgets_text_and_lossiness),
		cmocka_unit_test(extreme_integers_are_written_whole),
		cmocka_unit_test(no_integer_is_larger_than_readers_take),
		cmocka_unit_test(doubles_that_are_no_number_are_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
