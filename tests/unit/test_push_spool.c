// SPDX-License-Identifier: BSD-2-Clause
/* Batches that wait: their order, what stays after a crash, lack of room, and counts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "push_spool_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static void batches_are_read_in_the_order_of_each_queue(void **state)
{
	struct place *p = *state;

	spool_begin(p, ROOM);
	assert_none(SPOOL_ROWS);
	assert_none(SPOOL_SAMPLES);
	spool_put(SPOOL_SAMPLES, "s1", 5);
	spool_put(SPOOL_ROWS, "r1", 1);
	spool_put(SPOOL_SAMPLES, "s2", 6);
	assert_false(spool_is_empty(&spool, SPOOL_ROWS));
	assert_next(SPOOL_ROWS, "r1", 1);
	assert_none(SPOOL_ROWS);
	assert_next(SPOOL_SAMPLES, "s1", 5);
	spool_put(SPOOL_SAMPLES, "s3", 7);
	assert_next(SPOOL_SAMPLES, "s2", 6);
	assert_next(SPOOL_SAMPLES, "s3", 7);
	assert_none(SPOOL_SAMPLES);
	assert_bytes_counted(p);
	spool_done(&spool);
}

static void batch_that_is_not_removed_is_read_again(void **state)
{
	struct spool_batch b;

	spool_begin(*state, ROOM);
	spool_put(SPOOL_ROWS, "one", 1);
	spool_put(SPOOL_ROWS, "two", 1);
	b = spool_peek(SPOOL_ROWS, "one", 1);
	batch_release(&b);
	assert_next(SPOOL_ROWS, "one", 1);
	assert_next(SPOOL_ROWS, "two", 1);
	spool_done(&spool);
}

static void queue_goes_on_over_many_files(void **state)
{
	struct place *p = *state;
	size_t nr;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 40; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	assert_bytes_counted(p);
	files_bytes(p, "samples", &nr);
	assert_true(nr >= 8);
	assert_numbers(SPOOL_SAMPLES, 0, 39);
	assert_bytes_counted(p);
	files_bytes(p, "samples", &nr);
	assert_true(nr <= 1);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->damaged, 0);
	spool_done(&spool);
}

static void after_a_crash_everything_not_sent_is_there(void **state)
{
	struct place *p = *state;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 30; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	spool_put(SPOOL_ROWS, "row", 3);
	for (int i = 0; i < 12; i++)
		assert_int_equal(spool_take_number(SPOOL_SAMPLES), i);
	spool_crash();
	spool_begin(p, SMALL_ROOM);
	assert_bytes_counted(p);
	assert_false(spool_is_empty(&spool, SPOOL_SAMPLES));
	spool_put_number(SPOOL_SAMPLES, 30);
	assert_numbers(SPOOL_SAMPLES, 12, 30);
	assert_next(SPOOL_ROWS, "row", 3);
	assert_none(SPOOL_ROWS);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->damaged, 0);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	spool_done(&spool);
	spool_begin(p, SMALL_ROOM);
	assert_none(SPOOL_ROWS);
	assert_none(SPOOL_SAMPLES);
	spool_done(&spool);
}

static void second_process_is_refused(void **state)
{
	const struct place *p = *state;
	struct spool second;

	spool_begin(p, ROOM);
	assert_int_equal(spool_open(&second, p->dir, ROOM), -EWOULDBLOCK);
	spool_done(&second);
	spool_put(SPOOL_ROWS, "row", 1);
	spool_done(&spool);
	spool_begin(p, ROOM);
	assert_next(SPOOL_ROWS, "row", 1);
	spool_done(&spool);
}

static void folder_that_is_missing_is_an_error(void **state)
{
	const struct place *p = *state;

	assert_int_equal(spool_open(&spool, p->path, ROOM), -ENOENT);
	spool_done(&spool);
	file_write(p->path, "");
	assert_int_equal(spool_open(&spool, p->path, ROOM), -ENOTDIR);
	spool_done(&spool);
}

static void file_begins_anew_when_all_was_sent(void **state)
{
	struct place *p = *state;
	size_t nr;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 100; i++) {
		spool_put_number(SPOOL_SAMPLES, i);
		spool_put_number(SPOOL_SAMPLES, i + 1);
		assert_numbers(SPOOL_SAMPLES, (int)i, (int)i + 1);
		assert_int_equal(files_bytes(p, "samples", &nr), 0);
		assert_int_equal(nr, 1);
		assert_int_equal(queue_of(SPOOL_SAMPLES)->bytes, 0);
	}
	assert_int_equal(queue_of(SPOOL_SAMPLES)->last, 1);
	spool_done(&spool);
}

static void without_room_the_oldest_samples_go_first(void **state)
{
	struct place *p = *state;
	uint64_t dropped;
	size_t nr;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 10; i++)
		spool_put_number(SPOOL_ROWS, i);
	for (unsigned i = 0; i < 200; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	assert_bytes_counted(p);
	assert_true(files_bytes(p, "rows", &nr) + files_bytes(p, "samples", &nr) <= SMALL_ROOM);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 0);
	dropped = queue_of(SPOOL_SAMPLES)->dropped;
	assert_in_range(dropped, 100, 150);
	assert_numbers(SPOOL_ROWS, 0, 9);
	assert_numbers(SPOOL_SAMPLES, (int)dropped, 199);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, dropped);
	spool_done(&spool);
}

static void rows_go_once_they_have_three_quarters_of_the_room(void **state)
{
	struct place *p = *state;
	uint64_t dropped;
	size_t nr;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 12; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	for (unsigned i = 0; i < 100; i++)
		spool_put_number(SPOOL_ROWS, i);
	dropped = queue_of(SPOOL_ROWS)->dropped;
	assert_true(dropped > 0);
	assert_in_range(files_bytes(p, "rows", &nr), SMALL_ROOM * 3 / 4 - 2048,
			SMALL_ROOM * 3 / 4 + 2048);
	assert_true(files_bytes(p, "samples", &nr) > 1024); /* not all of them had to go */
	assert_bytes_counted(p);
	assert_numbers(SPOOL_ROWS, (int)dropped, 99);
	assert_numbers(SPOOL_SAMPLES, (int)queue_of(SPOOL_SAMPLES)->dropped, 11);
	spool_done(&spool);
}

static void without_samples_rows_have_all_of_the_room(void **state)
{
	struct place *p = *state;
	size_t nr;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 74; i++) /* of 220 bytes each */
		spool_put_number(SPOOL_ROWS, i);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 0);
	assert_true(files_bytes(p, "rows", &nr) > SMALL_ROOM - 220);
	spool_put_number(SPOOL_ROWS, 74);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 5);
	assert_numbers(SPOOL_ROWS, 5, 74);
	spool_done(&spool);
}

static void batch_sent_after_it_had_to_go_is_not_counted_as_dropped(void **state)
{
	struct place *p = *state;
	struct spool_batch b;
	uint64_t dropped;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 10; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	assert_true(spool_read(&spool, SPOOL_SAMPLES, &b));
	for (unsigned i = 10; i < 100; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	dropped = queue_of(SPOOL_SAMPLES)->dropped;
	assert_true(dropped > 10);
	spool_remove(&spool, SPOOL_SAMPLES, &b);
	batch_release(&b);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, dropped - 1);
	assert_numbers(SPOOL_SAMPLES, (int)dropped, 99);
	spool_done(&spool);
}

static void batches_that_were_sent_are_not_counted_when_their_file_goes(void **state)
{
	struct place *p = *state;
	uint64_t dropped;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 70; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	for (int i = 0; i < 3; i++)
		assert_int_equal(spool_take_number(SPOOL_SAMPLES), i);
	spool_crash();
	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 70; i < 80; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	dropped = queue_of(SPOOL_SAMPLES)->dropped;
	assert_true(dropped > 0);
	assert_numbers(SPOOL_SAMPLES, (int)dropped + 3, 79);
	spool_done(&spool);
}

static void too_long_batch_is_dropped_and_counted(void **state)
{
	char *text = calloc(1, SPOOL_BATCH_BYTES + 2);

	assert_non_null(text);
	memset(text, 'a', SPOOL_BATCH_BYTES + 1);
	spool_begin(*state, 64 << 20);
	spool_put(SPOOL_ROWS, text, 7);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 7);
	assert_none(SPOOL_ROWS);
	text[SPOOL_BATCH_BYTES] = '\0';
	spool_put(SPOOL_ROWS, text, 8);
	assert_next(SPOOL_ROWS, text, 8);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 7);
	spool_done(&spool);
	free(text);
}

static void without_a_folder_batches_stay_in_memory(void **state)
{
	static char text[(1 << 20) + 1];

	(void)state;
	memset(text, 'a', 1 << 20);
	spool_begin(NULL, 1 << 20);
	for (unsigned i = 0; i < 4; i++) {
		text[0] = (char)('0' + i);
		spool_put(SPOOL_SAMPLES, text, i + 1);
	}
	spool_put(SPOOL_ROWS, "row", 1);
	spool_sync(&spool);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->held_bytes, SPOOL_MEMORY_BYTES);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->bytes, SPOOL_MEMORY_BYTES);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	text[0] = '4';
	spool_put(SPOOL_SAMPLES, text, 5);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 1); /* the points of the oldest */
	for (unsigned i = 1; i < 5; i++) {
		text[0] = (char)('0' + i);
		assert_next(SPOOL_SAMPLES, text, i + 1);
	}
	assert_none(SPOOL_SAMPLES);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->bytes, 0);
	assert_next(SPOOL_ROWS, "row", 1);
	assert_none(SPOOL_ROWS);
	spool_done(&spool);
}

static void batch_sent_after_it_had_to_leave_memory_is_not_counted_as_dropped(void **state)
{
	static char text[(2 << 20) + 1];
	struct spool_batch b;

	(void)state;
	memset(text, '1', 2 << 20);
	spool_begin(NULL, 1 << 20);
	spool_put(SPOOL_SAMPLES, text, 10);
	spool_put(SPOOL_SAMPLES, text, 20);
	b = spool_peek(SPOOL_SAMPLES, text, 10);
	spool_put(SPOOL_SAMPLES, text, 40);
	spool_put(SPOOL_SAMPLES, text, 80);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 30);
	spool_remove(&spool, SPOOL_SAMPLES, &b);
	batch_release(&b);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 20);
	assert_next(SPOOL_SAMPLES, text, 40);
	assert_next(SPOOL_SAMPLES, text, 80);
	assert_none(SPOOL_SAMPLES);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 20);
	spool_done(&spool);
}

static struct rlimit limit_set(int resource, rlim_t most)
{
	struct rlimit old, small;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit((__rlimit_resource_t)resource, &old), 0);
	small = (struct rlimit){ most, old.rlim_max };
	assert_int_equal(setrlimit((__rlimit_resource_t)resource, &small), 0);
	return old;
}

static void what_the_disk_refuses_waits_in_memory(void **state)
{
	struct place *p = *state;
	struct rlimit old;

	spool_begin(p, ROOM);
	for (unsigned i = 0; i < 3; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	old = limit_set(RLIMIT_FSIZE, 3 * 220 + 100); /* a part of the next can be written */
	for (unsigned i = 3; i < 6; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	assert_int_equal(spool.disk_error, -EFBIG);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->held_bytes, 3 * 200);
	assert_bytes_counted(p);
	assert_int_equal(spool_take_number(SPOOL_SAMPLES), 0);
	spool_sync(&spool);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->held_bytes, 3 * 200);
	setrlimit(RLIMIT_FSIZE, &old);
	spool_put_number(SPOOL_SAMPLES, 6);
	assert_int_equal(spool.disk_error, 0);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->held_bytes, 0);
	assert_bytes_counted(p);
	spool_crash();
	spool_begin(p, ROOM);
	assert_numbers(SPOOL_SAMPLES, 1, 6);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->damaged, 0);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	spool_done(&spool);
}

static void what_waits_in_memory_is_read_after_the_files(void **state)
{
	struct rlimit old;

	spool_begin(*state, ROOM);
	spool_put_number(SPOOL_SAMPLES, 0);
	old = limit_set(RLIMIT_FSIZE, 220);
	spool_put_number(SPOOL_SAMPLES, 1);
	assert_int_equal(spool_take_number(SPOOL_SAMPLES), 0);
	assert_false(spool_is_empty(&spool, SPOOL_SAMPLES));
	assert_int_equal(spool_take_number(SPOOL_SAMPLES), 1);
	assert_none(SPOOL_SAMPLES);
	setrlimit(RLIMIT_FSIZE, &old);
	spool_done(&spool);
}

/* It was in flight when the disk took it: its second copy is sent, too, and nothing is dropped. */
static void batch_written_while_in_flight_is_sent_once_more(void **state)
{
	struct spool_batch b;
	struct rlimit old;

	spool_begin(*state, ROOM);
	old = limit_set(RLIMIT_FSIZE, 0);
	spool_put_number(SPOOL_ROWS, 1);
	assert_int_equal(queue_of(SPOOL_ROWS)->held_bytes, 200);
	assert_true(spool_read(&spool, SPOOL_ROWS, &b));
	setrlimit(RLIMIT_FSIZE, &old);
	spool_sync(&spool);
	assert_int_equal(queue_of(SPOOL_ROWS)->held_bytes, 0);
	spool_remove(&spool, SPOOL_ROWS, &b);
	batch_release(&b);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 0);
	assert_numbers(SPOOL_ROWS, 1, 1);
	spool_done(&spool);
}

/* What is in memory has no room on the disk yet, and nothing there goes for it but as it comes. */
static void memory_needs_no_room_of_the_disk(void **state)
{
	struct place *p = *state;
	static char text[(8 << 10) + 1];
	struct rlimit old;

	memset(text, '1', 8 << 10);
	spool_begin(p, 64 << 10);
	spool_put_number(SPOOL_ROWS, 0);
	old = limit_set(RLIMIT_FSIZE, 220);
	for (unsigned i = 0; i < 32; i++) /* four times the room */
		spool_put(SPOOL_SAMPLES, text, 1);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->held_bytes, 32 * 8 << 10);
	setrlimit(RLIMIT_FSIZE, &old);
	spool_sync(&spool);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->held_bytes, 0);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 0);
	assert_in_range(queue_of(SPOOL_SAMPLES)->dropped, 24, 26);
	assert_bytes_counted(p);
	assert_numbers(SPOOL_ROWS, 0, 0);
	spool_done(&spool);
}

static void batch_larger_than_the_room_leaves_the_files_alone(void **state)
{
	static char text[(17 << 10) + 1];

	memset(text, '1', 17 << 10);
	spool_begin(*state, SMALL_ROOM);
	spool_put_number(SPOOL_ROWS, 0);
	spool_put_number(SPOOL_SAMPLES, 0);
	spool_put(SPOOL_SAMPLES, text, 5);
	assert_int_equal(queue_of(SPOOL_ROWS)->dropped, 0);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	assert_numbers(SPOOL_ROWS, 0, 0);
	assert_int_equal(spool_take_number(SPOOL_SAMPLES), 0);
	assert_next(SPOOL_SAMPLES, text, 5); /* from memory */
	spool_done(&spool);
}

static void without_descriptors_nothing_is_lost(void **state)
{
	struct place *p = *state;
	struct spool_batch b;
	struct rlimit old;

	spool_begin(p, SMALL_ROOM);
	for (unsigned i = 0; i < 12; i++)
		spool_put_number(SPOOL_SAMPLES, i);
	assert_true(spool_read(&spool, SPOOL_SAMPLES, &b));
	old = limit_set(RLIMIT_NOFILE, 0);
	spool_remove(&spool, SPOOL_SAMPLES, &b); /* its mark cannot be written */
	batch_release(&b);
	assert_false(spool_read(&spool, SPOOL_SAMPLES, &b));
	assert_false(spool_is_empty(&spool, SPOOL_SAMPLES));
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->dropped, 0);
	assert_int_equal(queue_of(SPOOL_SAMPLES)->damaged, 0);
	assert_numbers(SPOOL_SAMPLES, 1, 11);
	spool_done(&spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACE_TEST(batches_are_read_in_the_order_of_each_queue),
		PLACE_TEST(batch_that_is_not_removed_is_read_again),
		PLACE_TEST(queue_goes_on_over_many_files),
		PLACE_TEST(after_a_crash_everything_not_sent_is_there),
		PLACE_TEST(second_process_is_refused),
		PLACE_TEST(folder_that_is_missing_is_an_error),
		PLACE_TEST(file_begins_anew_when_all_was_sent),
		PLACE_TEST(without_room_the_oldest_samples_go_first),
		PLACE_TEST(rows_go_once_they_have_three_quarters_of_the_room),
		PLACE_TEST(without_samples_rows_have_all_of_the_room),
		PLACE_TEST(batch_sent_after_it_had_to_go_is_not_counted_as_dropped),
		PLACE_TEST(batches_that_were_sent_are_not_counted_when_their_file_goes),
		PLACE_TEST(too_long_batch_is_dropped_and_counted),
		cmocka_unit_test(without_a_folder_batches_stay_in_memory),
		cmocka_unit_test(batch_sent_after_it_had_to_leave_memory_is_not_counted_as_dropped),
		PLACE_TEST(what_the_disk_refuses_waits_in_memory),
		PLACE_TEST(what_waits_in_memory_is_read_after_the_files),
		PLACE_TEST(batch_written_while_in_flight_is_sent_once_more),
		PLACE_TEST(memory_needs_no_room_of_the_disk),
		PLACE_TEST(batch_larger_than_the_room_leaves_the_files_alone),
		PLACE_TEST(without_descriptors_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
