// SPDX-License-Identifier: BSD-2-Clause
/* What somebody else has written does not steer a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"

#include <stdio.h>

static void assert_disarmed(const char *text, const char *expected)
{
	char copy[100];

	snprintf(copy, sizeof(copy), "%s", text);
	text_disarm(copy);
	assert_string_equal(copy, expected);
}

static void control_characters_are_replaced(void **state)
{
	(void)state;
	assert_disarmed("", "");
	assert_disarmed("a\x1b[31mb\n\x7f", "a?[31mb??");
	assert_disarmed("\xc2\x9b"
			"31m",
			"?31m"); /* the same in one character */
	assert_disarmed("\xe2\x80\xae"
			"txt.exe",
			"?txt.exe");
	assert_disarmed("\xe2\x81\xa7x", "?x");
	assert_disarmed("\xe2\x80\x8e\xd8\x9cx", "??x");
}

static void what_is_no_character_is_replaced(void **state)
{
	(void)state;
	assert_disarmed("\x80\xff\xfe", "???");
	assert_disarmed("\xe2\x82x\xc3", "??x?"); /* cut off */
}

static void other_letters_stay(void **state)
{
	(void)state;
	assert_disarmed("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8d\xb0",
			"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8d\xb0");
}

static void text_holds_a_part_whatever_the_case(void **state)
{
	(void)state;
	assert_true(text_contains("with the Patch", "PATCH"));
	assert_true(text_contains("x", ""));
	assert_true(text_contains("\303\234ber", "\303\274BER"));           /* Latin */
	assert_true(text_contains("\316\243\320\226", "\317\203\320\266")); /* Greek, Cyrillic */
	assert_true(text_contains("aaab", "aab"));
	assert_true(text_contains("caf\xe9 x", "\xe9 X"));
	assert_false(text_contains("caf\xe9", "\xc9"));
	assert_false(text_contains("", "a"));
	assert_false(text_contains("ab", "abc"));
	assert_false(text_contains("[", "{"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(what_is_no_character_is_replaced),
		cmocka_unit_test(other_letters_stay),
		cmocka_unit_test(text_holds_a_part_whatever_the_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
