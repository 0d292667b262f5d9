// SPDX-License-Identifier: BSD-2-Clause
/* The notation of OTLP, against bytes that were computed by hand, and reading it again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push/otlp.h"

#include <stdlib.h>
#include <string.h>

#define ASSERT_BYTES(t, bytes) assert_bytes(t, bytes, sizeof(bytes) - 1)

/* Empties the buffer. */
static void assert_bytes(struct buffer *t, const char *bytes, size_t length)
{
	assert_false(t->failed);
	assert_int_equal(t->used, length);
	assert_memory_equal(t->text, bytes, length);
	t->used = 0;
}

static void numbers_have_seven_bits_a_byte(void **state)
{
	struct buffer t = { 0 };

	(void)state;
	otlp_put_integer(&t, 1, 0);
	ASSERT_BYTES(&t, "\x08\x00");
	otlp_put_integer(&t, 2, 127);
	ASSERT_BYTES(&t, "\x10\x7f");
	otlp_put_integer(&t, 2, 128);
	ASSERT_BYTES(&t, "\x10\x80\x01");
	otlp_put_integer(&t, 1, 150);
	ASSERT_BYTES(&t, "\x08\x96\x01");
	otlp_put_integer(&t, 15, UINT64_MAX);
	ASSERT_BYTES(&t, "\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	buffer_done(&t);
}

static void fixed_numbers_have_eight_bytes_the_lowest_first(void **state)
{
	struct buffer t = { 0 };

	(void)state;
	otlp_put_fixed(&t, 3, 0x0102030405060708);
	ASSERT_BYTES(&t, "\x19\x08\x07\x06\x05\x04\x03\x02\x01");
	otlp_put_fixed(&t, 6, 0);
	ASSERT_BYTES(&t, "\x31\0\0\0\0\0\0\0\0");
	otlp_put_double(&t, 4, 2.5);
	ASSERT_BYTES(&t, "\x21\0\0\0\0\0\0\x04\x40");
	buffer_done(&t);
}

static void texts_have_their_length_before_them(void **state)
{
	struct buffer t = { 0 };

	(void)state;
	otlp_put_text(&t, 1, "cpu", 3);
	ASSERT_BYTES(&t, "\x0a\x03"
			 "cpu");
	otlp_put_text(&t, 3, "", 0);
	ASSERT_BYTES(&t, "\x1a\x00");
	/* no UTF-8: a reader may refuse the whole request for that */
	otlp_put_text(&t, 1, "\xc3\xa4\xff\x1b", 4);
	ASSERT_BYTES(&t, "\x0a\x04\xc3\xa4??");
	buffer_done(&t);
}

static void attribute_is_a_key_and_a_value_within(void **state)
{
	struct buffer t = { 0 };

	(void)state;
	otlp_put_attribute(&t, 7, "job", "a/1xx", 3);
	ASSERT_BYTES(&t, "\x3a\x0c\x0a\x03job\x12\x05\x0a\x03"
			 "a/1");
	otlp_put_attribute(&t, 7, "job", "", 0);
	otlp_put_attribute(&t, 7, "", "a", 1);
	ASSERT_BYTES(&t, "");
	buffer_done(&t);
}

static void long_message_has_a_length_of_several_bytes(void **state)
{
	static const size_t lengths[] = { 0, 1, 127, 128, 16383, 16384, 100000 };
	struct buffer t = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const size_t n = lengths[i], outer = otlp_open(&t, 1), inner = otlp_open(&t, 2);
		const size_t size = n < 128 ? 1 : n < 16384 ? 2 : 3;
		struct otlp_field f;

		for (size_t k = 0; k < n; k++)
			buffer_puts(&t, "x");
		otlp_close(&t, inner);
		otlp_close(&t, outer);
		assert_int_equal(otlp_record_length(t.text, t.used), t.used);
		assert_true(otlp_find(&f, 1, t.text, t.used));
		assert_int_equal(f.length, 1 + size + n);
		assert_true(otlp_find(&f, 2, f.bytes, f.length));
		assert_int_equal(f.length, n);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(f.bytes[k], 'x');
		t.used = 0;
	}
	buffer_done(&t);
}

static void fields_are_found_behind_others_of_all_kinds(void **state)
{
	static const char bytes[] = "\x08\x96\x01"                         /* 1: 150 */
				    "\x11\x01\x02\x03\x04\x05\x06\x07\x08" /* 2: 8 bytes */
				    "\x1d\x01\x02\x03\x04"                 /* 3: 4 bytes */
				    "\x22\x02hi"                           /* 4: a text */
				    "\x28\x07";                            /* 5: 7 */
	struct otlp_field f;

	(void)state;
	assert_true(otlp_find(&f, 1, bytes, sizeof(bytes) - 1));
	assert_int_equal(f.number, 150);
	assert_null(f.bytes);
	assert_true(otlp_find(&f, 4, bytes, sizeof(bytes) - 1));
	assert_int_equal(f.length, 2);
	assert_memory_equal(f.bytes, "hi", 2);
	assert_true(otlp_find(&f, 5, bytes, sizeof(bytes) - 1));
	assert_int_equal(f.number, 7);
	assert_false(otlp_find(&f, 6, bytes, sizeof(bytes) - 1));
}

/* Each beginning is in memory of just its length, which sanitizers watch. */
static void bytes_that_are_no_message_are_refused(void **state)
{
	static const char bytes[] = "\x0a\x85\x80\x00hello\x12\x01y";
	static const char *const bad[] = { "\x0b",
					   "\x0f\x01",
					   "\x0a",
					   "\x0a\x02x",
					   "\x0d\x01",
					   "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
					   "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" };
	struct otlp_field f;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(otlp_find(&f, 1, bad[i], strlen(bad[i])));
		assert_int_equal(otlp_record_length(bad[i], strlen(bad[i])), 0);
	}
	for (size_t n = 0; n < sizeof(bytes); n++) {
		char *copy = malloc(n ? n : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, n);
		assert_int_equal(otlp_record_length(copy, n), n < 9 ? 0 : 9);
		assert_int_equal(otlp_find(&f, 2, copy, n), n >= 12);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_seven_bits_a_byte),
		cmocka_unit_test(fixed_numbers_have_eight_bytes_the_lowest_first),
		cmocka_unit_test(texts_have_their_length_before_them),
		cmocka_unit_test(attribute_is_a_key_and_a_value_within),
		cmocka_unit_test(long_message_has_a_length_of_several_bytes),
		cmocka_unit_test(fields_are_found_behind_others_of_all_kinds),
		cmocka_unit_test(bytes_that_are_no_message_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
