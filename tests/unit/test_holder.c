// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "run/summary.h"

static void largest_come_first(void **state)
{
	const uint64_t sizes[] = { 5, 9, 1, 7 };
	struct holders all = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++)
		holders_add(&all, &(struct holder){ .pid = i, .rss_bytes = sizes[i] });
	assert_int_equal(all.nr, 4);
	assert_int_equal(all.largest[0].pid, 1);
	assert_int_equal(all.largest[3].pid, 2);
	assert_int_equal(all.others, 0);
	holders_done(&all);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct holders all = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= HOLDERS_KEPT + 3; i++)
		holders_add(&all, &(struct holder){ .exe = "/bin/x", .rss_bytes = i });
	holders_add(&all, &(struct holder){ .exe = "/bin/y", .rss_bytes = 1 });
	assert_int_equal(all.nr, HOLDERS_KEPT);
	assert_int_equal(all.largest[0].rss_bytes, HOLDERS_KEPT + 3);
	assert_int_equal(all.others, 4);
	assert_int_equal(all.others_bytes, 1 + 2 + 3 + 1);
	assert_string_equal(all.largest[0].exe, "/bin/x");
	holders_done(&all);
	assert_int_equal(all.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_come_first),
		cmocka_unit_test(what_does_not_fit_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
