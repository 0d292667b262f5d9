// SPDX-License-Identifier: BSD-2-Clause
/* Numbers as text: as short as they read back. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_decimal(uint64_t v, unsigned decimals, const char *expected)
{
	char out[DECIMAL_TEXT];

	assert_int_equal(decimal_format(out, v, decimals), strlen(expected));
	assert_string_equal(out, expected);
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
	char out[DOUBLE_TEXT];

	assert_int_equal(double_format(out, v), strlen(expected));
	assert_string_equal(out, expected);
}

static void doubles_are_as_short_as_they_read_back(void **state)
{
	(void)state;
	assert_double(0.1, "0.1");
	assert_double(1763690000.123456, "1763690000.123456");
	assert_double(4194303.123456789, "4194303.123456789");
	assert_double(-0.25, "-0.25");
	assert_double(0.0, "0");
	assert_double(-0.0, "-0.0"); /* -0 would be read as the integer 0 */
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
	char out[DOUBLE_TEXT];

	(void)state;
	assert_in_range(double_format(out, -5e-324), 1, DOUBLE_TEXT - 1);
	assert_true(strtod(out, NULL) == -5e-324);
	assert_in_range(double_format(out, -1.7976931348623157e308), 1, DOUBLE_TEXT - 1);
	assert_true(strtod(out, NULL) == -1.7976931348623157e308);
}

static void whole_numbers_have_a_range(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_true(number_round(0.5, &n) && n == 1);
	assert_true(number_round(-0.4, &n) && n == 0);
	assert_true(number_round(18446744073709549568.0, &n) && n == 18446744073709549568U);
	assert_true(number_round(18446744073709551616.0, &n) && n == UINT64_MAX); /* as a double */
	n = 7;
	assert_false(number_round(18446744073709555712.0, &n));
	assert_false(number_round(-1, &n));
	assert_false(number_round(NAN, &n));
	assert_false(number_round(INFINITY, &n));
	assert_int_equal(n, 7);
}

static void what_is_out_of_range_has_a_nearest_number(void **state)
{
	(void)state;
	assert_int_equal(number_clamp(1.5), 2);
	assert_int_equal(number_clamp(1e300), NUMBER_MAX);
	assert_int_equal(number_clamp(INFINITY), NUMBER_MAX);
	assert_int_equal(number_clamp(-1e300), 0);
	assert_int_equal(number_clamp(NAN), 0);
}

static void scaled_numbers_have_a_range(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_true(number_scale(18446744073, 9, &n) && n == 18446744073000000000U);
	n = 7;
	assert_false(number_scale(18446744074, 9, &n));
	assert_false(number_scale(UINT64_MAX, 9, &n));
	assert_int_equal(n, 7);
	assert_true(number_scale(UINT64_MAX, 0, &n) && n == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals_lose_trailing_zeros),
		cmocka_unit_test(decimals_keep_leading_zeros),
		cmocka_unit_test(integers_keep_their_zeros),
		cmocka_unit_test(largest_decimal_fits),
		cmocka_unit_test(doubles_are_as_short_as_they_read_back),
		cmocka_unit_test(only_huge_and_tiny_doubles_have_an_exponent),
		cmocka_unit_test(the_smallest_and_the_largest_double_fit),
		cmocka_unit_test(whole_numbers_have_a_range),
		cmocka_unit_test(what_is_out_of_range_has_a_nearest_number),
		cmocka_unit_test(scaled_numbers_have_a_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
