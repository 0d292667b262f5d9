// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/exact.h"

#include <string.h>

static void assert_read(const char *text, unsigned decimals, uint64_t expected)
{
	uint64_t v = 7;

	assert_true(exact_decimal(text, strlen(text), "key", decimals, &v));
	assert_int_equal(v, expected);
}

static void assert_left(const char *text, unsigned decimals)
{
	uint64_t v = 7;

	assert_false(exact_decimal(text, strlen(text), "key", decimals, &v));
	assert_int_equal(v, 7);
}

static void decimals_are_scaled(void **state)
{
	(void)state;
	assert_read("{\"key\":12.345}", 9, 12345000000);
	assert_read("{\"key\":0.000000001}", 9, 1);
	assert_read("{\"key\":12}", 9, 12000000000);
	assert_read("{\"key\":12}", 0, 12);
	assert_read("{ \"key\" :\t1.5\n}", 3, 1500);
}

static void largest_number_fits_and_one_more_is_left(void **state)
{
	(void)state;
	assert_read("{\"key\":18446744073.709551615}", 9, UINT64_MAX);
	assert_left("{\"key\":18446744073.709551616}", 9);
	assert_left("{\"key\":18446744074}", 9);
	assert_left("{\"key\":99999999999999999999}", 0);
}

static void other_forms_of_numbers_are_left(void **state)
{
	(void)state;
	assert_left("{\"key\":1.5e3}", 9);
	assert_left("{\"key\":1E3}", 9);
	assert_left("{\"key\":-1.5}", 9);
	assert_left("{\"key\":0.0000000001}", 9);
	assert_left("{\"key\":1.5}", 0);
}

static void what_is_no_number_is_left(void **state)
{
	(void)state;
	assert_left("{\"key\":\"1.5\"}", 9);
	assert_left("{\"key\":null}", 9);
	assert_left("{\"key\":[1.5]}", 9);
	assert_left("{}", 9);
}

static void only_members_of_the_outermost_object_are_found(void **state)
{
	(void)state;
	assert_left("{\"a\":{\"key\":1.5},\"b\":[{\"key\":2.5}]}", 9);
	assert_read("{\"a\":{\"key\":1.5},\"key\":2.5}", 9, 2500000000);
}

static void strings_that_look_like_the_member_are_passed_over(void **state)
{
	(void)state;
	assert_left("{\"a\":\"key\"}", 9);
	assert_left("{\"a\":\"\\\"key\\\":1.5\"}", 9);
	assert_left("{\"keys\":1.5,\"ke\":2.5,\"\\\\key\":3.5}", 9);
	assert_read("{\"a\":\"}{\\\\\",\"key\":2.5}", 9, 2500000000);
}

static void of_two_members_the_last_counts(void **state)
{
	(void)state;
	assert_read("{\"key\":1.5,\"key\":2.5}", 9, 2500000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals_are_scaled),
		cmocka_unit_test(largest_number_fits_and_one_more_is_left),
		cmocka_unit_test(other_forms_of_numbers_are_left),
		cmocka_unit_test(what_is_no_number_is_left),
		cmocka_unit_test(only_members_of_the_outermost_object_are_found),
		cmocka_unit_test(strings_that_look_like_the_member_are_passed_over),
		cmocka_unit_test(of_two_members_the_last_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
