// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/format.h"

#include <stdlib.h>
#include <string.h>

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

/* The page has the same notation, which test_page.py reads from the same file. */
static void durations_have_one_notation(void **state)
{
	FILE *f = fopen("tests/data/durations", "r");
	char text[FORMAT_BYTES], out[FORMAT_BYTES];
	unsigned long long ns;

	(void)state;
	assert_non_null(f);
	while (fscanf(f, "%llu\t%31[^\n]", &ns, text) == 2)
		assert_string_equal(format_seconds(out, ns), text);
	assert_true(feof(f));
	fclose(f);
	assert_true(strlen(format_seconds(out, UINT64_MAX)) < sizeof(out));
}

static void part_and_whole_share_a_unit(void **state)
{
	char out[2 * FORMAT_BYTES];

	(void)state;
	assert_string_equal(format_seconds_of(out, 39500000000, 41912000000), "39.5 of 41.9 s");
	assert_string_equal(format_seconds_of(out, 500000000, 1500000000), "500 ms of 1.50 s");
	assert_string_equal(format_seconds_of(out, 62000000000, 2024000000000),
			    "62.0 s of 33 min 44 s");
	assert_string_equal(format_seconds_of(out, 0, 1500000000), "0 s of 1.50 s");
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

static void wide_characters_take_two_columns(void **state)
{
	(void)state;
	assert_int_equal(format_columns("a\xe6\x97\xa5"), 3);
	assert_shown("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 6,
		     "\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5");
	assert_shown("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 5, "...\xe6\x97\xa5");
	assert_shown("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 4, "...");
	assert_shown("abc\xf0\x9f\x98\x80", 5, "abc\xf0\x9f\x98\x80"); /* an emoji */
}

static void a_combining_character_takes_no_columns(void **state)
{
	(void)state;
	assert_int_equal(format_columns("e\xcc\x81"), 1);     /* a combining accent */
	assert_int_equal(format_columns("a\xe2\x80\x8b"), 1); /* a space without width */
}

static void names_are_cut_to_any_width(void **state)
{
	(void)state;
	assert_shown("abcdef", 3, "def");
	assert_shown("abcdef", 1, "f");
	assert_shown("abcdef", 0, "");
}

static void assert_folded(const char *text, size_t width, const char *expected)
{
	char *shown = NULL;
	size_t length;
	FILE *f = open_memstream(&shown, &length);

	format_folded(f, text, width, 2);
	fclose(f);
	assert_string_equal(shown, expected);
	free(shown);
}

static void lines_that_are_too_long_go_on_below(void **state)
{
	(void)state;
	assert_folded("  one two three\n\nfour\n", 80, "  one two three\n\nfour\n");
	assert_folded("  one two three\nfour\n", 9, "  one two\n  three\nfour\n");
	assert_folded("  one\n", 3, "  o\nne\n");
	assert_folded("abcdefgh", 5, "abcde\n  fgh\n");
	assert_folded("\xe6\x97\xa5\xe6\x97\xa5\n", 3, "\xe6\x97\xa5\n\xe6\x97\xa5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_shown_with_three_digits_or_so),
		cmocka_unit_test(largest_number_of_bytes_fits),
		cmocka_unit_test(durations_have_one_notation),
		cmocka_unit_test(part_and_whole_share_a_unit),
		cmocka_unit_test(counts_are_grouped_by_thousands),
		cmocka_unit_test(name_that_fits_is_shown_whole),
		cmocka_unit_test(name_that_is_too_long_keeps_its_end),
		cmocka_unit_test(terminal_escapes_are_neutralised),
		cmocka_unit_test(controls_of_eight_bits_are_neutralised),
		cmocka_unit_test(escape_left_by_the_cut_is_neutralised),
		cmocka_unit_test(letters_beyond_ascii_are_kept),
		cmocka_unit_test(wide_characters_take_two_columns),
		cmocka_unit_test(a_combining_character_takes_no_columns),
		cmocka_unit_test(names_are_cut_to_any_width),
		cmocka_unit_test(lines_that_are_too_long_go_on_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
