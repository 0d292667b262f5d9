// SPDX-License-Identifier: BSD-2-Clause
/* Batches that wait: their order, what stays after a crash, damage, lack of room, and counts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "fixture.h"
#include "push/spool.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#define ROOM (1 << 20)
#define SMALL_ROOM (16 << 10) /* its files end after 1 KiB */
#define HEADER_BYTES 20       /* before each batch of a file */
#define SENT_AT 4             /* where the header says that the batch was sent */

static struct spool spool;

static struct spool_queue *queue_of(enum spool_kind kind)
{
	return &spool.queues[kind];
}

static void spool_begin(const struct place *p, uint64_t most)
{
	assert_int_equal(spool_open(&spool, p ? p->dir : NULL, most), 0);
}

/* Only the descriptors go: nothing is synchronized or written. */
static void spool_crash(void)
{
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++)
		if (spool.queues[kind].write_fd >= 0)
			close(spool.queues[kind].write_fd);
	close(spool.folder);
}

static void spool_put(enum spool_kind kind, const char *text, uint32_t points)
{
	const struct spool_batch b = { .bytes = (char *)text,
				       .length = strlen(text),
				       .points = points };

	spool_append(&spool, kind, &b);
}

/* A batch of 200 bytes that begins with a number. */
static void spool_put_number(enum spool_kind kind, unsigned number)
{
	char text[201];

	snprintf(text, sizeof(text), "%-200u", number);
	spool_put(kind, text, 1);
}

static unsigned number_of(const struct spool_batch *b)
{
	char text[16] = "";

	memcpy(text, b->bytes, b->length < 15 ? b->length : 15);
	return (unsigned)strtoul(text, NULL, 10);
}

static void batch_release(struct spool_batch *b)
{
	free(b->bytes);
	b->bytes = NULL;
}

/* Returns the number of the next batch and removes it; -1: there is none. */
static int spool_take_number(enum spool_kind kind)
{
	struct spool_batch b;
	int number;

	if (!spool_read(&spool, kind, &b))
		return -1;
	number = (int)number_of(&b);
	spool_remove(&spool, kind, &b);
	batch_release(&b);
	return number;
}

static void assert_numbers(enum spool_kind kind, int first, int last)
{
	for (int i = first; i <= last; i++)
		assert_int_equal(spool_take_number(kind), i);
	assert_int_equal(spool_take_number(kind), -1);
	assert_true(spool_is_empty(&spool, kind));
}

/* Reads the next batch and compares it; the caller releases it. */
static struct spool_batch spool_peek(enum spool_kind kind, const char *text, uint32_t points)
{
	struct spool_batch b;

	assert_true(spool_read(&spool, kind, &b));
	assert_int_equal(b.length, strlen(text));
	assert_memory_equal(b.bytes, text, b.length);
	assert_int_equal(b.points, points);
	return b;
}

static void assert_next(enum spool_kind kind, const char *text, uint32_t points)
{
	struct spool_batch b = spool_peek(kind, text, points);

	spool_remove(&spool, kind, &b);
	batch_release(&b);
}

static void assert_none(enum spool_kind kind)
{
	struct spool_batch b;

	assert_false(spool_read(&spool, kind, &b));
	assert_true(spool_is_empty(&spool, kind));
}

static void file_path(const struct place *p, char path[128], const char *kind, uint64_t number)
{
	snprintf(path, 128, "%s/%s-%016lx", p->dir, kind, (unsigned long)number);
}

/* The bytes of all files of a queue on the disk; *@nr: their number. */
static uint64_t files_bytes(const struct place *p, const char *kind, size_t *nr)
{
	DIR *d = opendir(p->dir);
	const struct dirent *e;
	uint64_t bytes = 0;
	char path[512];
	struct stat st;

	assert_non_null(d);
	*nr = 0;
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", p->dir, e->d_name);
		if (strncmp(e->d_name, kind, strlen(kind)) != 0 || stat(path, &st) ||
		    !S_ISREG(st.st_mode))
			continue;
		bytes += (uint64_t)st.st_size;
		++*nr;
	}
	closedir(d);
	return bytes;
}

static void assert_bytes_counted(const struct place *p)
{
	size_t nr;

	assert_int_equal(queue_of(SPOOL_ROWS)->bytes - queue_of(SPOOL_ROWS)->held_bytes,
			 files_bytes(p, "rows", &nr));
	assert_int_equal(queue_of(SPOOL_SAMPLES)->bytes - queue_of(SPOOL_SAMPLES)->held_bytes,
			 files_bytes(p, "samples", &nr));
}

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

static void whatever_byte_is_damaged_the_batches_before_it_are_read(void **state)
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
		const unsigned before = (1U << batch) - 1, all = (1U << SMALL_FILE_BATCHES) - 1;

		bytes[byte] ^= flips[at % sizeof(flips)];
		bytes_write(path, bytes, length);
		bytes[byte] ^= flips[at % sizeof(flips)];
		spool_begin(p, ROOM);
		assert_int_equal(spool_take_all(SPOOL_ROWS),
				 is_mark ? all & ~(1U << batch) : before);
		assert_int_equal(queue_of(SPOOL_ROWS)->damaged, !is_mark);
		if (within >= HEADER_BYTES) /* what follows was lost with it */
			assert_int_equal(queue_of(SPOOL_ROWS)->dropped, all & ~before);
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
		PLACE_TEST(whatever_byte_is_damaged_the_batches_before_it_are_read),
		PLACE_TEST(wherever_a_file_is_cut_the_whole_batches_are_read),
		PLACE_TEST(damage_costs_one_file_alone),
		PLACE_TEST(files_that_are_missing_are_skipped_and_counted),
		PLACE_TEST(gap_of_any_width_is_passed_at_once),
		PLACE_TEST(files_that_are_removed_meanwhile_leave_right_counts),
		PLACE_TEST(gap_of_one_queue_leaves_the_place_in_the_other),
		PLACE_TEST(what_is_no_file_of_the_spool_stays),
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
