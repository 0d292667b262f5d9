// SPDX-License-Identifier: BSD-2-Clause
/* Where the formatted manual page has the section of a subcommand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpfmon/manual.h"

#define HEAD                                                                                       \
	"BPFMON(1)\n\nSYNOPSIS\n       bpfmon list\n       bpfmon show [OPTIONS]\n\nDESCRIPTION\n" \
	"       bpfmon runs a command; see\n       bpfmon list and others.\n\n"

static void assert_section(const char *text, const char *name, size_t line, size_t lines)
{
	size_t found;

	assert_int_equal(manual_find_section(text, name, &found), line);
	assert_int_equal(found, lines);
}

static void section_is_found_behind_the_synopsis_as_a_row(void **state)
{
	static const char text[] = HEAD "SUBCOMMANDS\n       bpfmon list\n              Lists.\n\n"
					"              More.\n\n       bpfmon show\n"
					"              Shows.\n";

	(void)state;
	assert_section(text, "list", 12, 4);
	assert_section(text, "show", 17, 2);
}

static void section_is_found_as_a_heading_with_words_behind_it(void **state)
{
	static const char text[] = HEAD "   bpfmon list [OPTIONS]\n       Lists.\n"
					"   bpfmon listen\n       x\nSHOW\n       Shows.\n";

	(void)state;
	assert_section(text, "list", 11, 2);
	assert_section(text, "show", 15, 2);
}

static void section_that_is_not_there_is_not_found(void **state)
{
	(void)state;
	assert_section(HEAD, "list", 0, 0);
	assert_section("", "list", 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(section_is_found_behind_the_synopsis_as_a_row),
		cmocka_unit_test(section_is_found_as_a_heading_with_words_behind_it),
		cmocka_unit_test(section_that_is_not_there_is_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
