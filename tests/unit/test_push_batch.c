// SPDX-License-Identifier: BSD-2-Clause
/* Texts of lines and of records: compressed, read again, cut, counted, and chosen by the dialect.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push/batch.h"

#include <stdlib.h>
#include <string.h>

static void assert_text(const struct buffer *t, const char *text, size_t length)
{
	assert_false(t->failed);
	assert_int_equal(t->used, length);
	if (length)
		assert_memory_equal(t->text, text, length);
}

static void assert_same_after_expanding(const char *text, size_t length)
{
	struct buffer bytes = { 0 }, again = { 0 }, back = { 0 };

	batch_compress(&bytes, text, length);
	assert_false(bytes.failed);
	batch_compress(&again, text, length);
	assert_text(&again, bytes.text, bytes.used);
	batch_expand(&back, bytes.text, bytes.used);
	assert_text(&back, text, length);
	buffer_done(&bytes);
	buffer_done(&again);
	buffer_done(&back);
}

/* Bytes that gzip hardly shortens, the same each time. */
static char *noise_make(size_t length)
{
	uint64_t x = 88172645463325252ULL;
	char *text = malloc(length);

	assert_non_null(text);
	for (size_t i = 0; i < length; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		text[i] = (char)x;
	}
	return text;
}

static void text_is_the_same_after_it_was_compressed(void **state)
{
	static const size_t lengths[] = { 1, 2, 16383, 16384, 16385, 100000, BATCH_BYTES + 1 };
	char *noise = noise_make(BATCH_BYTES + 1);

	(void)state;
	assert_same_after_expanding("", 0);
	assert_same_after_expanding("a b=1 5\n", 8);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		assert_same_after_expanding(noise, lengths[i]);
	free(noise);
}

/* Compresses @length letters and reads them again; returns whether that fails. */
static bool letters_fail(size_t length)
{
	struct buffer bytes = { 0 }, back = { 0 };
	char *text = malloc(length);
	bool fails;

	assert_non_null(text);
	memset(text, 'a', length);
	batch_compress(&bytes, text, length);
	assert_false(bytes.failed);
	free(text);
	batch_expand(&back, bytes.text, bytes.used);
	fails = back.failed;
	assert_true(back.used <= BATCH_TEXT_BYTES + (64 << 10)); /* it is not expanded whole */
	buffer_done(&bytes);
	buffer_done(&back);
	return fails;
}

static void text_that_expands_to_too_much_fails(void **state)
{
	(void)state;
	assert_false(letters_fail(BATCH_TEXT_BYTES));
	assert_true(letters_fail(BATCH_TEXT_BYTES + 1));
	assert_true(letters_fail(BATCH_TEXT_BYTES * 8));
}

static void expand_fails(const char *bytes, size_t length)
{
	struct buffer back = { 0 };

	batch_expand(&back, bytes, length);
	assert_true(back.failed);
	buffer_done(&back);
}

static void damaged_bytes_fail_or_give_the_same_text(void **state)
{
	static const char text[] = "bpfmon_job,job=a cpu_seconds_total=1 5\nbpfmon_job,job=b x=1\n";
	struct buffer bytes = { 0 };

	(void)state;
	batch_compress(&bytes, text, sizeof(text) - 1);
	for (size_t i = 0; i < bytes.used; i++)
		expand_fails(bytes.text, i);
	for (size_t i = 0; i < bytes.used * 8; i++) {
		struct buffer back = { 0 };

		bytes.text[i / 8] ^= (char)(1 << i % 8);
		batch_expand(&back, bytes.text, bytes.used);
		if (!back.failed) /* a bit that says nothing of the text */
			assert_text(&back, text, sizeof(text) - 1);
		bytes.text[i / 8] ^= (char)(1 << i % 8);
		buffer_done(&back);
	}
	expand_fails("", 0);
	expand_fails("no gzip", 7);
	buffer_done(&bytes);
}

static void assert_cut(const char *text, size_t lines, size_t length, size_t nr)
{
	size_t found = 99;

	assert_int_equal(batch_cut(text, strlen(text), lines, &found), length);
	assert_int_equal(found, nr);
}

static void cut_ends_after_whole_lines(void **state)
{
	(void)state;
	assert_cut("", 5, 0, 0);
	assert_cut("a\nbb\nccc\n", 1, 2, 1);
	assert_cut("a\nbb\nccc\n", 2, 5, 2);
	assert_cut("a\nbb\nccc\n", 3, 9, 3);
	assert_cut("a\nbb\nccc\n", 4, 9, 3);
	assert_cut("a\nbb\nccc", 3, 8, 3);
	assert_cut("a\nbb\nccc", 9, 8, 3);
	assert_cut("\n\na", 2, 2, 2);
}

static void cut_has_at_most_the_bytes_of_a_batch_or_one_line(void **state)
{
	char *text = malloc(3 * BATCH_BYTES);
	size_t nr;

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 3 * BATCH_BYTES);
	text[BATCH_BYTES / 2 - 1] = text[BATCH_BYTES - 1] = text[BATCH_BYTES] = '\n';
	assert_int_equal(batch_cut(text, 3 * BATCH_BYTES, 9, &nr), BATCH_BYTES);
	assert_int_equal(nr, 2);
	text[BATCH_BYTES - 1] = 'a'; /* the second line ends one byte too late */
	assert_int_equal(batch_cut(text, 3 * BATCH_BYTES, 9, &nr), BATCH_BYTES / 2);
	assert_int_equal(nr, 1);
	assert_int_equal(batch_cut(text + BATCH_BYTES + 1, 2 * BATCH_BYTES - 1, 9, &nr),
			 2 * BATCH_BYTES - 1); /* a long line alone */
	assert_int_equal(nr, 1);
	free(text);
}

static void lines_are_skipped_and_counted(void **state)
{
	(void)state;
	assert_int_equal(batch_skip("a\nbb\nc", 6, 0), 0);
	assert_int_equal(batch_skip("a\nbb\nc", 6, 1), 2);
	assert_int_equal(batch_skip("a\nbb\nc", 6, 2), 5);
	assert_int_equal(batch_skip("a\nbb\nc", 6, 3), 6);
	assert_int_equal(batch_skip("a\nbb\nc", 6, 4), 6);
	assert_int_equal(batch_skip("", 0, 4), 0);
	assert_int_equal(batch_count("", 0), 0);
	assert_int_equal(batch_count(NULL, 0), 0);
	assert_int_equal(batch_count("a", 1), 1);
	assert_int_equal(batch_count("a\n", 2), 1);
	assert_int_equal(batch_count("a\nb", 3), 2);
	assert_int_equal(batch_count("\n\n\n", 3), 3);
}

/* Records of 0, 5, and 200 bytes after their tags and lengths. */
static void records_make(struct buffer *t)
{
	buffer_put(t, "\x0a\x00\x0a\x05\x0a\x01\n\n\n\x0a\xc8\x01", 12);
	for (int i = 0; i < 200; i++)
		buffer_puts(t, "\n");
	assert_false(t->failed);
}

static void records_are_cut_skipped_and_counted_by_their_lengths(void **state)
{
	struct buffer t = { 0 };
	size_t nr;

	(void)state;
	records_make(&t);
	assert_int_equal(batch_count(t.text, t.used), 3);
	assert_int_equal(batch_skip(t.text, t.used, 1), 2);
	assert_int_equal(batch_skip(t.text, t.used, 2), 9);
	assert_int_equal(batch_skip(t.text, t.used, 9), t.used);
	assert_int_equal(batch_cut(t.text, t.used, 2, &nr), 9);
	assert_int_equal(nr, 2);
	assert_int_equal(batch_cut(t.text, t.used, 3, &nr), t.used);
	assert_int_equal(nr, 3);
	buffer_done(&t);
}

static void batch_is_in_the_notation_of_some_dialects(void **state)
{
	struct buffer line = { .text = (char *)"a b=1\n", .used = 6 }, records = { 0 };

	(void)state;
	records_make(&records);
	assert_true(batch_is_for(&line, DIALECT_INFLUXDB));
	assert_true(batch_is_for(&line, DIALECT_VICTORIAMETRICS));
	assert_false(batch_is_for(&line, DIALECT_OTLP));
	assert_true(batch_is_for(&records, DIALECT_OTLP));
	assert_false(batch_is_for(&records, DIALECT_INFLUXDB));
	assert_false(batch_is_for(&records, DIALECT_VICTORIAMETRICS));
	buffer_done(&records);
}

static void each_row_is_one_record(void **state)
{
	struct buffer records = { 0 }, to = { 0 };

	(void)state;
	records_make(&records);
	assert_int_equal(batch_row_lines(DIALECT_OTLP), 1);
	assert_int_equal(batch_row_lines(DIALECT_INFLUXDB), 2);
	assert_int_equal(batch_row_lines(DIALECT_VICTORIAMETRICS), 2);
	batch_choose(&to, &records, DIALECT_OTLP);
	assert_text(&to, records.text, records.used);
	buffer_done(&records);
	buffer_done(&to);
}

static void assert_chosen(const char *rows, enum dialect dialect, const char *lines)
{
	const struct buffer from = { .text = (char *)rows, .used = strlen(rows) };
	struct buffer to = { 0 };

	batch_choose(&to, &from, dialect);
	assert_text(&to, lines, strlen(lines));
	buffer_done(&to);
}

static void each_row_has_a_line_for_each_kind_of_database(void **state)
{
	(void)state;
	assert_chosen("a\nA\nbb\nBB\n", DIALECT_INFLUXDB, "a\nbb\n");
	assert_chosen("a\nA\nbb\nBB\n", DIALECT_VICTORIAMETRICS, "A\nBB\n");
	assert_chosen("a\nA", DIALECT_INFLUXDB, "a\n");
	assert_chosen("a\nA", DIALECT_VICTORIAMETRICS, "A");
	assert_chosen("", DIALECT_INFLUXDB, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_the_same_after_it_was_compressed),
		cmocka_unit_test(text_that_expands_to_too_much_fails),
		cmocka_unit_test(damaged_bytes_fail_or_give_the_same_text),
		cmocka_unit_test(cut_ends_after_whole_lines),
		cmocka_unit_test(cut_has_at_most_the_bytes_of_a_batch_or_one_line),
		cmocka_unit_test(lines_are_skipped_and_counted),
		cmocka_unit_test(each_row_has_a_line_for_each_kind_of_database),
		cmocka_unit_test(records_are_cut_skipped_and_counted_by_their_lengths),
		cmocka_unit_test(batch_is_in_the_notation_of_some_dialects),
		cmocka_unit_test(each_row_is_one_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
