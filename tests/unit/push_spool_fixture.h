/* SPDX-License-Identifier: BSD-2-Clause */
/* A spool in the folder of a test, and batches with numbers. */
#ifndef TESTS_UNIT_PUSH_SPOOL_FIXTURE_H
#define TESTS_UNIT_PUSH_SPOOL_FIXTURE_H

#include "fixture.h"
#include "push/spool.h"

#include <dirent.h>

#define ROOM (1 << 20)
#define SMALL_ROOM (16 << 10) /* its files end after 1 KiB */

static struct spool spool;

static inline struct spool_queue *queue_of(enum spool_kind kind)
{
	return &spool.queues[kind];
}

static inline void spool_begin(const struct place *p, uint64_t most)
{
	assert_int_equal(spool_open(&spool, p ? p->dir : NULL, most), 0);
}

/* Only the descriptors go: nothing is synchronized or written. */
static inline void spool_crash(void)
{
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++)
		if (spool.queues[kind].write_fd >= 0)
			close(spool.queues[kind].write_fd);
	close(spool.folder);
}

static inline void spool_put(enum spool_kind kind, const char *text, uint32_t points)
{
	const struct spool_batch b = { .bytes = (char *)text,
				       .length = strlen(text),
				       .points = points };

	spool_append(&spool, kind, &b);
}

/* A batch of 200 bytes that begins with a number. */
static inline void spool_put_number(enum spool_kind kind, unsigned number)
{
	char text[201];

	snprintf(text, sizeof(text), "%-200u", number);
	spool_put(kind, text, 1);
}

static inline unsigned number_of(const struct spool_batch *b)
{
	char text[16] = "";

	memcpy(text, b->bytes, b->length < 15 ? b->length : 15);
	return (unsigned)strtoul(text, NULL, 10);
}

static inline void batch_release(struct spool_batch *b)
{
	free(b->bytes);
	b->bytes = NULL;
}

/* Returns the number of the next batch and removes it; -1: there is none. */
static inline int spool_take_number(enum spool_kind kind)
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

static inline void assert_numbers(enum spool_kind kind, int first, int last)
{
	for (int i = first; i <= last; i++)
		assert_int_equal(spool_take_number(kind), i);
	assert_int_equal(spool_take_number(kind), -1);
	assert_true(spool_is_empty(&spool, kind));
}

/* Reads the next batch and compares it; the caller releases it. */
static inline struct spool_batch spool_peek(enum spool_kind kind, const char *text, uint32_t points)
{
	struct spool_batch b;

	assert_true(spool_read(&spool, kind, &b));
	assert_int_equal(b.length, strlen(text));
	assert_memory_equal(b.bytes, text, b.length);
	assert_int_equal(b.points, points);
	return b;
}

static inline void assert_next(enum spool_kind kind, const char *text, uint32_t points)
{
	struct spool_batch b = spool_peek(kind, text, points);

	spool_remove(&spool, kind, &b);
	batch_release(&b);
}

static inline void assert_none(enum spool_kind kind)
{
	struct spool_batch b;

	assert_false(spool_read(&spool, kind, &b));
	assert_true(spool_is_empty(&spool, kind));
}

static inline void file_path(const struct place *p, char path[128], const char *kind,
			     uint64_t number)
{
	snprintf(path, 128, "%s/%s-%016lx", p->dir, kind, (unsigned long)number);
}

/* The bytes of all files of a queue on the disk; *@nr: their number. */
static inline uint64_t files_bytes(const struct place *p, const char *kind, size_t *nr)
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

static inline void assert_bytes_counted(const struct place *p)
{
	size_t nr;

	assert_int_equal(queue_of(SPOOL_ROWS)->bytes - queue_of(SPOOL_ROWS)->held_bytes,
			 files_bytes(p, "rows", &nr));
	assert_int_equal(queue_of(SPOOL_SAMPLES)->bytes - queue_of(SPOOL_SAMPLES)->held_bytes,
			 files_bytes(p, "samples", &nr));
}

#endif
