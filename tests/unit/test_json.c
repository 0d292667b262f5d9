// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* What @n bytes become, between the quotes. */
static void assert_written(const char *bytes, size_t n, const char *expected, bool is_lossy)
{
	struct json j = { 0 };

	jw_bytes(&j, NULL, bytes, n);
	assert_string_equal(j.text, expected);
	assert_int_equal(j.lossy, is_lossy);
	assert_false(j.failed);
	jw_done(&j);
}

static void assert_decimal(uint64_t v, unsigned decimals, const char *expected)
{
	char out[DECIMAL_TEXT];

	assert_int_equal(decimal_format(out, v, decimals), strlen(expected));
	assert_string_equal(out, expected);
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

static void nul_in_the_middle_is_escaped(void **state)
{
	(void)state;
	assert_written("a\0b", 3, "\"a\\u0000b\"", false);
}

static void valid_utf8_of_every_length_is_kept(void **state)
{
	const char *text = "\x7e\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
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
	struct json j = { 0 };

	(void)state;
	jw_object(&j, NULL);
	jw_uint(&j, "a\"b", 1);
	jw_object_end(&j);
	assert_string_equal(j.text, "{\"a\\\"b\":1}");
	jw_done(&j);
}

static void commas_stand_between_members_only(void **state)
{
	struct json j = { 0 };

	(void)state;
	jw_object(&j, NULL);
	jw_array(&j, "empty");
	jw_array_end(&j);
	jw_object(&j, "nothing");
	jw_object_end(&j);
	jw_array(&j, "list");
	jw_int(&j, NULL, -1);
	jw_bool(&j, NULL, true);
	jw_bool(&j, NULL, false);
	jw_null(&j, NULL);
	jw_array_end(&j);
	jw_object_end(&j);
	assert_string_equal(j.text, "{\"empty\":[],\"nothing\":{},\"list\":[-1,true,false,null]}");
	jw_done(&j);
}

static void lines_follow_each_other_without_comma(void **state)
{
	struct json j = { 0 };

	(void)state;
	jw_uint(&j, NULL, 1);
	jw_newline(&j);
	jw_uint(&j, NULL, 2);
	jw_newline(&j);
	assert_string_equal(j.text, "1\n2\n");
	jw_done(&j);
}

static void string_that_is_not_there_is_null(void **state)
{
	struct json j = { 0 };

	(void)state;
	jw_string(&j, NULL, NULL);
	assert_string_equal(j.text, "null");
	jw_done(&j);
}

static void reset_forgets_text_and_lossiness(void **state)
{
	struct json j = { 0 };

	(void)state;
	jw_string(&j, NULL, "\xff");
	jw_reset(&j);
	jw_uint(&j, NULL, 7);
	assert_string_equal(j.text, "7");
	assert_int_equal(j.used, 1);
	assert_false(j.lossy);
	jw_done(&j);
}

static void extreme_integers_are_written_whole(void **state)
{
	struct json j = { 0 };

	(void)state;
	jw_array(&j, NULL);
	jw_uint(&j, NULL, UINT64_MAX);
	jw_int(&j, NULL, INT64_MIN);
	jw_array_end(&j);
	assert_string_equal(j.text, "[18446744073709551615,-9223372036854775808]");
	jw_done(&j);
}

static void decimals_lose_trailing_zeros(void **state)
{
	(void)state;
	assert_decimal(1500, 3, "1.5");
	assert_decimal(1050, 3, "1.05");
	assert_decimal(2000, 3, "2");
}

static void decimals_keep_leading_zeros(void **state)
{
	(void)state;
	assert_decimal(1, 9, "0.000000001");
	assert_decimal(1000000001, 9, "1.000000001");
}

static void integers_keep_their_zeros(void **state)
{
	(void)state;
	assert_decimal(1000, 0, "1000");
	assert_decimal(0, 0, "0");
	assert_decimal(0, 9, "0");
}

static void largest_decimal_fits(void **state)
{
	(void)state;
	assert_decimal(UINT64_MAX, 9, "18446744073.709551615");
}

static void assert_double(double v, const char *expected)
{
	struct json j = { 0 };

	jw_double(&j, NULL, v);
	assert_string_equal(j.text, expected);
	jw_done(&j);
}

static void doubles_are_as_short_as_they_read_back(void **state)
{
	(void)state;
	assert_double(0.1, "0.1");
	assert_double(1763690000.123456, "1763690000.123456");
	assert_double(4194303.123456789, "4194303.123456789");
	assert_double(-0.25, "-0.25");
	assert_double(0.1 + 0.2, "0.30000000000000004");
	assert_double(100, "100");
	assert_double(0, "0");
}

static void only_huge_and_tiny_doubles_have_an_exponent(void **state)
{
	(void)state;
	assert_double(0.00004, "0.00004");
	assert_double(123456789012345, "123456789012345");
	assert_double(1e21, "1e+21");
}

static void the_smallest_and_the_largest_double_fit(void **state)
{
	struct json j = { 0 };

	(void)state;
	jw_double(&j, NULL, -5e-324);
	assert_true(strtod(j.text, NULL) == -5e-324);
	jw_reset(&j);
	jw_double(&j, NULL, -1.7976931348623157e308);
	assert_true(strtod(j.text, NULL) == -1.7976931348623157e308);
	jw_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_and_backslashes_are_escaped),
		cmocka_unit_test(control_characters_are_escaped),
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
		cmocka_unit_test(decimals_lose_trailing_zeros),
		cmocka_unit_test(decimals_keep_leading_zeros),
		cmocka_unit_test(integers_keep_their_zeros),
		cmocka_unit_test(largest_decimal_fits),
		cmocka_unit_test(doubles_are_as_short_as_they_read_back),
		cmocka_unit_test(only_huge_and_tiny_doubles_have_an_exponent),
		cmocka_unit_test(the_smallest_and_the_largest_double_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
