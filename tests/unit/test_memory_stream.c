// SPDX-License-Identifier: BSD-2-Clause
/* Our open_memstream() says how much was written, as that of the C library does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void what_was_written_is_counted_at_once_and_later(void **state)
{
	size_t length = 0;
	char *text = NULL;
	FILE *f = memory_open_memstream(&text, &length);

	(void)state;
	assert_non_null(f);
	assert_int_equal(ftell(f), 0);
	fputs("some", f);
	assert_int_equal(ftell(f), 4);
	for (int i = 0; i < 10000; i++) /* more than its buffer */
		fputs(" and more", f);
	assert_int_equal(ftello(f), 4 + 90000);
	assert_int_equal(fflush(f), 0);
	assert_int_equal(ftell(f), 4 + 90000);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(length, 4 + 90000);
	assert_int_equal(strlen(text), length);
	assert_memory_equal(text, "some and more and", 17);
	free(text);
}

static void it_goes_nowhere_else(void **state)
{
	size_t length = 0;
	char *text = NULL;
	FILE *f = memory_open_memstream(&text, &length);

	(void)state;
	assert_non_null(f);
	fputs("text", f);
	assert_int_not_equal(fseek(f, 0, SEEK_SET), 0);
	assert_int_not_equal(fseek(f, -2, SEEK_CUR), 0);
	fputs("!", f);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "text!");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_counted_at_once_and_later),
		cmocka_unit_test(it_goes_nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
