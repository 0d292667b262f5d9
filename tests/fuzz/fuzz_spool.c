// SPDX-License-Identifier: BSD-2-Clause
/*
 * A file of the spool of bpfmon-push: whatever is in it, each batch that is read is one of the
 * file, with its checksum, and is read once; then the spool goes on as if it were empty.
 */
#include "fuzz.h"

#include "push/batch.h"
#include "push/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#define ROOM (1 << 20)
#define SMALL_ROOM (4 << 10)

/* As in the file. */
struct stored {
	uint32_t magic, is_sent, length, points, checksum;
};

static const char *folder_make(void)
{
	static char folder[] = "/dev/shm/bpfmon-fuzz-XXXXXX";
	static bool is_made;

	FUZZ_HOLDS(is_made || mkdtemp(folder));
	is_made = true;
	return folder;
}

static void spool_file_put(const char *folder, const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/rows-%016x", folder, 1);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FUZZ_HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void check_batch(const struct spool_batch *b, const uint8_t *data, size_t size)
{
	struct buffer text = { 0 };
	struct stored h;
	uLong sum;

	FUZZ_HOLDS(b->file == 1 && b->length && b->at + sizeof(h) + b->length <= size);
	memcpy(&h, data + b->at, sizeof(h));
	FUZZ_HOLDS(!h.is_sent && h.length == b->length && h.points == b->points);
	FUZZ_HOLDS(!memcmp(data + b->at + sizeof(h), b->bytes, b->length));
	sum = crc32(0, (const Bytef *)&h.length, 2 * sizeof(h.length));
	FUZZ_HOLDS(crc32(sum, (const Bytef *)b->bytes, h.length) == h.checksum);
	batch_expand(&text, b->bytes, b->length);
	FUZZ_HOLDS(text.failed || text.used <= BATCH_TEXT_BYTES);
	buffer_done(&text);
}

/* Reads and removes all batches. Returns their number. */
static size_t take_all(struct spool *s, const uint8_t *data, size_t size)
{
	struct spool_batch b;
	uint64_t last = 0;
	size_t n = 0;

	for (; spool_read(s, SPOOL_ROWS, &b); n++) {
		FUZZ_HOLDS(!n || b.at > last);
		last = b.at;
		check_batch(&b, data, size);
		spool_remove(s, SPOOL_ROWS, &b);
		free(b.bytes);
	}
	FUZZ_HOLDS(n <= size / (sizeof(struct stored) + 1));
	FUZZ_HOLDS(spool_is_empty(s, SPOOL_ROWS));
	FUZZ_HOLDS(s->queues[SPOOL_ROWS].damaged <= 1 && !s->queues[SPOOL_ROWS].bytes);
	return n;
}

static void check_next(struct spool *s)
{
	static char bytes[] = "batch";
	const struct spool_batch b = { .bytes = bytes, .length = sizeof(bytes), .points = 3 };
	struct spool_batch read;

	spool_append(s, SPOOL_ROWS, &b);
	FUZZ_HOLDS(spool_read(s, SPOOL_ROWS, &read) && read.length == sizeof(bytes) &&
		   read.points == 3 && !memcmp(read.bytes, bytes, sizeof(bytes)));
	spool_remove(s, SPOOL_ROWS, &read);
	free(read.bytes);
	FUZZ_HOLDS(!spool_read(s, SPOOL_ROWS, &read) && spool_is_empty(s, SPOOL_ROWS));
}

/* Samples need its room: it is counted, and goes. */
static void check_room(struct spool *s)
{
	static char bytes[1 << 10];
	const struct spool_batch b = { .bytes = bytes, .length = sizeof(bytes), .points = 1 };

	for (int i = 0; i < 8; i++)
		spool_append(s, SPOOL_SAMPLES, &b);
	FUZZ_HOLDS(s->queues[SPOOL_ROWS].bytes + s->queues[SPOOL_SAMPLES].bytes -
			   s->queues[SPOOL_SAMPLES].held_bytes <=
		   SMALL_ROOM);
}

static void spool_file_remove_all(const char *folder)
{
	struct spool s;
	struct spool_batch b;

	FUZZ_HOLDS(!spool_open(&s, folder, ROOM));
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++)
		while (spool_read(&s, (enum spool_kind)kind, &b)) {
			spool_remove(&s, (enum spool_kind)kind, &b);
			free(b.bytes);
		}
	spool_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = folder_make();
	struct spool s;

	spool_file_put(folder, data, size);
	FUZZ_HOLDS(!spool_open(&s, folder, ROOM));
	take_all(&s, data, size);
	check_next(&s);
	spool_done(&s);

	/* the same again, as after a crash: what was removed stays so */
	FUZZ_HOLDS(!spool_open(&s, folder, ROOM));
	FUZZ_HOLDS(!take_all(&s, data, 0));
	spool_done(&s);

	spool_file_put(folder, data, size);
	FUZZ_HOLDS(!spool_open(&s, folder, SMALL_ROOM));
	check_room(&s);
	spool_done(&s);
	spool_file_remove_all(folder);
	return 0;
}
