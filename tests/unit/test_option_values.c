// SPDX-License-Identifier: BSD-2-Clause
/* Values that options of several subcommands take. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "options/option_values.h"

#include <errno.h>

static void assert_no_moment(const char *text)
{
	uint64_t ns = 7;

	assert_int_equal(moment_parse(&ns, text), -EINVAL);
	assert_int_equal(ns, 7);
}

static void assert_size(const char *text, uint64_t bytes)
{
	uint64_t value = 0;

	assert_int_equal(size_parse(&value, text), 0);
	assert_int_equal(value, bytes);
}

static void assert_no_size(const char *text)
{
	uint64_t value = 7;

	assert_int_equal(size_parse(&value, text), -EINVAL);
	assert_int_equal(value, 7);
}

static void moment_is_a_span_or_a_date(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(moment_parse(&ns, "7d"), 0);
	assert_int_equal(moment_parse(&ns, "2025-12-24"), 0);
	assert_int_equal(ns % 1000000000, 0);
	assert_int_equal(moment_parse(&ns, "2025-12-24 18:30"), 0);
	assert_no_moment("7");
	assert_no_moment("7x");
	assert_no_moment("-1d");
	assert_no_moment("99999999999999999999d");
	assert_no_moment("2025-13-01");
	assert_no_moment("yesterday");
}

static void date_that_does_not_exist_is_refused(void **state)
{
	uint64_t ns;

	(void)state;
	assert_no_moment("2025-02-31");
	assert_no_moment("2025-02-29 12:00");
	assert_no_moment("2025-04-31T12:00:00");
	assert_no_moment("24-12-01");
	assert_int_equal(moment_parse(&ns, "2024-02-29"), 0);
	assert_int_equal(moment_parse(&ns, "2025-01-31"), 0);
}

/* 0 says that there is no condition at all. */
static void time_before_1970_is_one(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(moment_parse(&ns, "36500d"), 0);
	assert_int_equal(ns, 1);
	ns = 0;
	assert_int_equal(moment_parse(&ns, "1950-01-01"), 0);
	assert_int_equal(ns, 1);
}

static void sizes_are_powers_of_1024(void **state)
{
	(void)state;
	assert_size("1K", 1024);
	assert_size("500MiB", 500ULL << 20);
	assert_size("2G", 2ULL << 30);
	assert_size("4194304TiB", 4194304ULL << 40);
	assert_no_size("0G");
	assert_no_size("500");
	assert_no_size("5MB");
	assert_no_size("4194305T");
	assert_no_size("-1G");
	assert_no_size("");
}

static void words_are_found_by_their_place(void **state)
{
	static const char *const words[] = { "start", "wall" };

	(void)state;
	assert_int_equal(word_find(words, 2, "wall"), 1);
	assert_int_equal(word_find(words, 2, "wal"), -EINVAL);
	assert_int_equal(word_find(words, 2, ""), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moment_is_a_span_or_a_date),
		cmocka_unit_test(date_that_does_not_exist_is_refused),
		cmocka_unit_test(time_before_1970_is_one),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(words_are_found_by_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
