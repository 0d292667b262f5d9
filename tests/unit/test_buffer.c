// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"

#include <string.h>

static void assert_text(struct buffer *t, const char *expected)
{
	assert_false(t->failed);
	assert_int_equal(t->used, strlen(expected));
	assert_memory_equal(t->text, expected, t->used);
	buffer_done(t);
}

static void buffer_grows_piece_by_piece(void **state)
{
	struct buffer t = { 0 };

	(void)state;
	buffer_put(&t, "", 0);
	buffer_puts(&t, "a");
	buffer_printf(&t, "%d%s", 12, "b");
	buffer_put_decimal(&t, 1500, 3);
	assert_text(&t, "a12b1.5");
}

static void control_characters_are_inert_in_a_terminal(void **state)
{
	static const char hostile[] = "a\n\x1b[2J\x7f\xc2\x9b"
				      "1m\xc3\xa9\xc2";
	struct buffer t = { 0 };

	(void)state;
	buffer_put_printable(&t, hostile, sizeof(hostile) - 1);
	assert_text(&t, "a??[2J??1m\xc3\xa9?");
}

static void a_character_is_never_read_beyond_its_end(void **state)
{
	bool is_control;

	(void)state;
	assert_int_equal(buffer_character_bytes("\xc3\xa9x", 2, &is_control), 2);
	assert_false(is_control);
	assert_int_equal(buffer_character_bytes("\xc3\xa9x", 1, &is_control), 1);
	assert_true(is_control);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_grows_piece_by_piece),
		cmocka_unit_test(control_characters_are_inert_in_a_terminal),
		cmocka_unit_test(a_character_is_never_read_beyond_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
