// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/format.h"

#include <stdlib.h>

static void assert_shown(const char *text, size_t width, const char *expected)
{
	char *shown = NULL;
	size_t length;
	FILE *f = open_memstream(&shown, &length);

	format_name(f, text, width);
	fclose(f);
	assert_string_equal(shown, expected);
	free(shown);
}

static void bytes_are_shown_with_three_digits_or_so(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_bytes(out, 0), "0 B");
	assert_string_equal(format_bytes(out, 999), "999 B");
	assert_string_equal(format_bytes(out, 1000), "1.0 KiB");
	assert_string_equal(format_bytes(out, 1536), "1.5 KiB");
	assert_string_equal(format_bytes(out, 512 << 10), "512 KiB");
	assert_string_equal(format_bytes(out, 3ULL << 40), "3.0 TiB");
}

static void largest_number_of_bytes_fits(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_bytes(out, UINT64_MAX), "16.0 EiB");
}

static void short_times_are_milliseconds(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_seconds(out, 0), "0.00 ms");
	assert_string_equal(format_seconds(out, 1234567), "1.23 ms");
}

static void longer_times_are_seconds(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_seconds(out, 100000000), "0.100 s");
	assert_string_equal(format_seconds(out, 12345000000), "12.345 s");
	assert_string_equal(format_seconds(out, 123450000000), "123.5 s");
}

static void counts_are_grouped_by_thousands(void **state)
{
	char out[FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_count(out, 0), "0");
	assert_string_equal(format_count(out, 999), "999");
	assert_string_equal(format_count(out, 1000), "1,000");
	assert_string_equal(format_count(out, 1234567), "1,234,567");
	assert_string_equal(format_count(out, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void name_that_fits_is_shown_whole(void **state)
{
	(void)state;
	assert_shown("/usr/bin/cc", 11, "/usr/bin/cc");
}

static void name_that_is_too_long_keeps_its_end(void **state)
{
	(void)state;
	assert_shown("/usr/bin/cc", 10, ".../bin/cc");
}

static void terminal_escapes_are_neutralised(void **state)
{
	(void)state;
	assert_shown("\x1b[31m\x07\r\n\x7f", 20, "?[31m????");
}

static void controls_of_eight_bits_are_neutralised(void **state)
{
	(void)state;
	assert_shown("a\x9b"
		     "31m",
		     20, "a?31m");
}

static void escape_left_by_the_cut_is_neutralised(void **state)
{
	(void)state;
	assert_shown("/long/path/\x1b]0;x", 8, "...?]0;x");
}

static void letters_beyond_ascii_are_kept(void **state)
{
	(void)state;
	assert_shown("/home/\xc3\x80lex/\xe6\x97\xa5", 20, "/home/\xc3\x80lex/\xe6\x97\xa5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_shown_with_three_digits_or_so),
		cmocka_unit_test(largest_number_of_bytes_fits),
		cmocka_unit_test(short_times_are_milliseconds),
		cmocka_unit_test(longer_times_are_seconds),
		cmocka_unit_test(counts_are_grouped_by_thousands),
		cmocka_unit_test(name_that_fits_is_shown_whole),
		cmocka_unit_test(name_that_is_too_long_keeps_its_end),
		cmocka_unit_test(terminal_escapes_are_neutralised),
		cmocka_unit_test(controls_of_eight_bits_are_neutralised),
		cmocka_unit_test(escape_left_by_the_cut_is_neutralised),
		cmocka_unit_test(letters_beyond_ascii_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
