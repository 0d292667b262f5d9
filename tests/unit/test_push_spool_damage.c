// SPDX-License-Identifier: BSD-2-Clause
/* Files of the spool that are damaged, cut, missing, or none of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push_spool_fixture.h"

#define HEADER_BYTES 20 /* before each batch of a file */
#define SENT_AT 4       /* where the header says that the batch was sent */
#define LENGTH_AT 8
#define POINTS_AT 12

#define SMALL_FILE_BATCHES 4

/* A file of a few batches, each of other bytes and points; returns its bytes, to be freed. */
static char *small_file_make(const struct place *p, char path[128], size_t *length)
{
	size_t nr;
	char *bytes;

	spool_begin(p, ROOM);
	spool_put(SPOOL_ROWS, "0", 1);
	spool_put(SPOOL_ROWS, "1 one", 2);
	spool_put(SPOOL_ROWS, "2 two two", 4);
	spool_put(SPOOL_ROWS, "3 three", 8);
	spool_done(&spool);
	file_path(p, path, "rows", 1);
	*length = files_bytes(p, "rows", &nr);
	bytes = file_read(path);
	assert_int_equal(*length, SMALL_FILE_BATCHES * HEADER_BYTES + 1 + 5 + 9 + 7);
	return bytes;
}

static void bytes_write(const char *path, const char *bytes, size_t length)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, length, f), length);
	fclose(f);
}

static size_t small_file_begin_of(int batch)
{
	static const size_t begin[] = { 0, 21, 46, 75, 102 };

	return begin[batch];
}

static int small_file_batch_at(size_t at)
{
	int i = 0;

	while (i < SMALL_FILE_BATCHES && at >= small_file_begin_of(i + 1))
		i++;
	return i;
}

/* Reads all batches, each once. Returns a mask of their numbers. */
static unsigned spool_take_all(enum spool_kind kind)
{
	unsigned seen = 0;

	for (int n, last = -1; (n = spool_take_number(kind)) >= 0; last = n) {
		assert_in_range(n, 0, 31);
		assert_true(n > last);
		seen |= 1U << n;
	}
	assert_true(spool_is_empty(&spool, kind));
	return seen;
}

/* What has a damaged file takes batches, and sends them, as if it had been empty. */
static void assert_goes_on(const struct place *p)
{
	spool_put(SPOOL_ROWS, "9", 9);
	assert_int_equal(spool_take_all(SPOOL_ROWS), 1 << 9);
	spool_done(&spool);
	spool_begin(p, ROOM);
	assert_none(SPOOL_ROWS);
	spool_done(&spool);
}

static void whatever_byte_is_damaged_other_batches_are_read(void **state)
{
	static const char flips[] = { 0x01, (char)0x80, (char)0xff };
	const struct place *p = *state;
	char path[128], *bytes;
	size_t length;

	bytes = small_file_make(p, path, &length);
	for (size_t at = 0; at < length * sizeof(flips); at++) {
		const size_t byte = at / sizeof(flips);
		const int batch = small_file_batch_at(byte);
		const size_t within = byte - small_file_begin_of(batch);
		const bool is_mark = within >= SENT_AT && within < SENT_AT + 4;
		const bool is_frame =
			within < SENT_AT || (within >= LENGTH_AT && within < POINTS_AT);
		const unsigned before = (1U << batch) - 1, all = (1U << SMALL_FILE_BATCHES) - 1;

		bytes[byte] ^= flips[at % sizeof(flips)];
		bytes_write(path, bytes, length);
		bytes[byte] ^= flips[at % sizeof(flips)];
		spool_begin(p, ROOM);
		assert_int_equal(spool_take_all(SPOOL_ROWS),
				 is_frame ? before : all & ~(1U << batch));
		assert_int_equal(queue_of(SPOOL_ROWS)->damaged, !is_mark);
		if (within >= HEADER_BYTES)
			assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 1U << batch);
		assert_int_equal(queue_of(SPOOL_ROWS)->bytes, 0);
		assert_goes_on(p);
	}
	free(bytes);
}

static void wherever_a_file_is_cut_the_whole_batches_are_read(void **state)
{
	const struct place *p = *state;
	char path[128], *bytes;
	size_t length;

	bytes = small_file_make(p, path, &length);
	for (size_t at = 0; at <= length; at++) {
		const int batch = small_file_batch_at(at);

		bytes_write(path, bytes, at);
		spool_begin(p, ROOM);
		assert_int_equal(spool_take_all(SPOOL_ROWS), (1U << batch) - 1);
		assert_int_equal(queue_of(SPOOL_ROWS)->damaged, at != small_file_begin_of(batch));
		assert_goes_on(p);
	}
	free(bytes);
}

static void damage_costs_one_file_alone(void **state)
{
	const struct place *p = *state;
	char path[128];
	unsigned seen;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 30; i++) /* 5 in each file */
		spool_put_number(SPOOL_SAMPLES, i);
	spool_done(&spool);
	file_path(p, path, "samples", 2);
	file_write(path, "no batch");
	spool_begin(p, SMALL_ROOM);
	seen = spool_take_all(SPOOL_SAMPLES);
	assert_int_equal(seen, ((1U << 30) - 1) & ~(0x1fU << 5));
	assert_int_equal(queue_of(SPOOL_SAMPLES)->damaged, 1);
	assert_bytes_counted(p);
	spool_done(&spool);
}

static void files_that_are_missing_are_skipped_and_counted(void **state)
{
	const struct place *p = *state;
	char path[128];

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 30; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	spool_done(&spool);
	for (uint64_t n = 3; n <= 4; n++) {
		file_path(p, path, "samples", n);
		assert_int_equal(unlink(path), 0);
	}
	spool_begin(p, SMALL_ROOM);
	assert_int_equal(spool_take_all(SPOOL_SAMPLES), ((1U << 30) - 1) & ~(0x3ffU << 10));
	assert_int_equal(queue_of(SPOOL_SAMPLES)->damaged, 1);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	spool_done(&spool);
}

/* The second file has the largest number that is taken: the numbers between are no files. */
static void gap_of_any_width_is_passed_at_once(void **state)
{
	const struct place *p = *state;
	char path[128], far[128];

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 10; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	spool_done(&spool);
	file_path(p, path, "samples", 2);
	file_path(p, far, "samples", UINT64_MAX / 4);
	assert_int_equal(rename(path, far), 0);
	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 10; i < 84; i++)
		spool_put_number(SPOOL_SAMPLES, i); /* both have to go */
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 10);
	assert_bytes_counted(p);
	assert_numbers(SPOOL_SAMPLES, 10, 83);
	spool_done(&spool);
}

static void files_that_are_removed_meanwhile_leave_right_counts(void **state)
{
	const struct place *p = *state;
	struct spool_batch row, sample;
	char path[128];

	spool_begin(p, ROOM);
	for (unsigned i = 0; i < 3; i++) {
		spool_put_number(SPOOL_ROWS, i);
		spool_put_number(SPOOL_SAMPLES, i);
	}
	assert_int_equal(spool_take_number(SPOOL_SAMPLES), 0);
	assert_true(spool_read(&spool, SPOOL_ROWS, &row));
	assert_true(spool_read(&spool, SPOOL_SAMPLES, &sample));
	file_path(p, path, "rows", 1);
	assert_int_equal(unlink(path), 0);
	file_path(p, path, "samples", 1);
	assert_int_equal(unlink(path), 0);
	spool_remove(&spool, SPOOL_ROWS, &row);
	spool_remove(&spool, SPOOL_SAMPLES, &sample);
	batch_release(&row);
	batch_release(&sample);
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++) {
		assert_none((enum spool_kind)kind);
		assert_int_equal(spool.queues[kind].dropped, 0);
		assert_int_equal(spool.queues[kind].bytes, 0);
		/* it does not write on into a file that nobody finds */
		spool_put_number((enum spool_kind)kind, 7);
	}
	assert_bytes_counted(p);
	spool_crash();
	spool_begin(p, ROOM);
	assert_numbers(SPOOL_ROWS, 7, 7);
	assert_numbers(SPOOL_SAMPLES, 7, 7);
	spool_done(&spool);
}

static void gap_of_one_queue_leaves_the_place_in_the_other(void **state)
{
	const struct place *p = *state;
	char path[128];

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 15; i++) {
		spool_put_number(SPOOL_ROWS, i);
		spool_put_number(SPOOL_SAMPLES, i);
	}
	for (int i = 0; i < 7; i++) /* within the second file */
		assert_int_equal(spool_take_number(SPOOL_SAMPLES), i);
	assert_int_equal(spool_take_number(SPOOL_ROWS), 0);
	for (uint64_t n = 1; n <= 2; n++) {
		file_path(p, path, "rows", n);
		assert_int_equal(unlink(path), 0);
	}
	file_path(p, path, "samples", 2);
	assert_int_equal(unlink(path), 0);
	assert_numbers(SPOOL_ROWS, 10, 14);
	assert_numbers(SPOOL_SAMPLES, 10, 14);
	spool_done(&spool);
}

static void what_is_no_file_of_the_spool_stays(void **state)
{
	static const char *const others[] = {
		"rows-1",
		"rows-000000000000000g",
		"rows-0000000000000000",
		"rows-00000000000000FF",
		"rows-8000000000000000",
		"rows-ffffffffffffffff",
		"rows--000000000000001",
		"samples",
		"samples-00000000000000001",
		"rows-0000000000000001.old",
	};
	const struct place *p = *state;
	char path[128];

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		place_put(p, others[i], "text");
	file_path(p, path, "rows", 1);
	assert_int_equal(mkdir(path, 0700), 0);
	file_path(p, path, "rows", 3);
	assert_int_equal(symlink("samples", path), 0);
	spool_begin(p, ROOM);
	assert_none(SPOOL_ROWS);
	assert_none(SPOOL_SAMPLES);
	for (int i = 0; i < NR_SPOOL_KINDS; i++) {
		assert_int_equal(spool.queues[i].bytes, 0);
		assert_int_equal(spool.queues[i].damaged, 0);
	}
	spool_done(&spool);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char *text;

		snprintf(path, sizeof(path), "%s/%s", p->dir, others[i]);
		text = file_read(path);
		assert_non_null(text);
		assert_string_equal(text, "text");
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(whatever_byte_is_damaged_other_batches_are_read),
		PLACE_TEST(wherever_a_file_is_cut_the_whole_batches_are_read),
		PLACE_TEST(damage_costs_one_file_alone),
		PLACE_TEST(files_that_are_missing_are_skipped_and_counted),
		PLACE_TEST(gap_of_any_width_is_passed_at_once),
		PLACE_TEST(files_that_are_removed_meanwhile_leave_right_counts),
		PLACE_TEST(gap_of_one_queue_leaves_the_place_in_the_other),
		PLACE_TEST(what_is_no_file_of_the_spool_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
