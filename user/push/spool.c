// SPDX-License-Identifier: BSD-2-Clause
#include "push/spool.h"

#include "base/memory.h"
#include "push/batch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC 0x31737062 /* "bps1" */
#define FILE_BYTES (1 << 20)
#define NAME_BYTES 32
#define LAST_FILE (UINT64_MAX / 2) /* number */
#define ROWS_SHARE 3 / 4           /* of the room, that rows may keep from samples */

/* Before each batch of a file. @is_sent is not in the checksum, as it changes. */
struct header {
	uint32_t magic, is_sent, length, points, checksum;
};

struct spool_held {
	struct spool_held *next;
	struct spool_batch batch;
};

static const char *const names[NR_SPOOL_KINDS] = { "rows", "samples" };

static void file_name(char out[NAME_BYTES], enum spool_kind kind, uint64_t number)
{
	snprintf(out, NAME_BYTES, "%s-%016" PRIx64, names[kind], number);
}

static int queue_open_file(const struct spool *s, enum spool_kind kind, uint64_t number, int flags)
{
	char name[NAME_BYTES];
	int fd;

	file_name(name, kind, number);
	fd = openat(s->folder, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

static uint32_t batch_checksum(const struct header *h, const char *bytes)
{
	uLong sum = crc32(0, (const Bytef *)&h->length, sizeof(h->length));

	sum = crc32(sum, (const Bytef *)&h->points, sizeof(h->points));
	return (uint32_t)crc32(sum, (const Bytef *)bytes, h->length);
}

/* Reads the header at @at. Returns false at the end of the file, and if it is none. */
static bool header_read(int fd, uint64_t at, struct header *h)
{
	return pread(fd, h, sizeof(*h), (off_t)at) == (ssize_t)sizeof(*h) && h->magic == MAGIC &&
	       h->length && h->length <= SPOOL_BATCH_BYTES;
}

static uint64_t stored_end(uint64_t at, const struct header *h)
{
	return at + sizeof(*h) + h->length;
}

/* Counts the points in a file from @at on. */
static uint64_t file_count_points(int fd, uint64_t at)
{
	struct header h;
	uint64_t points = 0;

	for (; header_read(fd, at, &h); at = stored_end(at, &h))
		points += h.is_sent ? 0 : h.points;
	return points;
}

/* Removes the first file of a queue; what was not sent of it is counted. */
static void queue_remove_file(struct spool *s, enum spool_kind kind)
{
	struct spool_queue *q = &s->queues[kind];
	int fd = queue_open_file(s, kind, q->first, O_RDONLY);
	char name[NAME_BYTES];
	struct stat st;

	if (fd >= 0) {
		q->dropped += file_count_points(fd, q->read_at);
		close(fd);
	}
	file_name(name, kind, q->first);
	if (!fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW))
		q->bytes -= (uint64_t)st.st_size < q->bytes ? (uint64_t)st.st_size : q->bytes;
	unlinkat(s->folder, name, 0);
	if (q->first == q->last && q->write_fd >= 0) {
		close(q->write_fd);
		q->write_fd = -1;
	}
	q->first++;
	q->read_at = 0;
}

static bool queue_has_file(const struct spool_queue *q)
{
	return q->first <= q->last;
}

static void held_remove(struct spool_queue *q)
{
	struct spool_held *h = q->held;

	q->held = h->next;
	if (!q->held)
		q->held_end = &q->held;
	q->held_bytes -= h->batch.length;
	q->bytes -= h->batch.length;
	free(h->batch.bytes);
	free(h);
}

static void held_append(struct spool_queue *q, const struct spool_batch *b)
{
	struct spool_held *h = NULL;

	while (q->held && q->held_bytes + b->length > SPOOL_MEMORY_BYTES) {
		q->dropped += q->held->batch.points;
		if (q->held_read == q->held->batch.at)
			q->held_read = 0;
		held_remove(q);
	}
	if (b->length <= SPOOL_MEMORY_BYTES)
		h = memory_calloc(1, sizeof(*h));
	if (h)
		h->batch.bytes = memory_malloc(b->length);
	if (!h || !h->batch.bytes) {
		free(h);
		q->dropped += b->points;
		return;
	}
	memcpy(h->batch.bytes, b->bytes, b->length);
	h->batch.length = b->length;
	h->batch.points = b->points;
	h->batch.at = ++q->held_number;
	*q->held_end = h;
	q->held_end = &h->next;
	q->held_bytes += b->length;
	q->bytes += b->length;
}

/* Takes the file into its queue, if it has such a name, and none before the first. */
static void spool_take_file(struct spool *s, const char *name, const uint64_t *least)
{
	struct stat st;

	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++) {
		struct spool_queue *q = &s->queues[kind];
		size_t length = strlen(names[kind]);
		char same[NAME_BYTES];
		uint64_t number;

		if (strncmp(name, names[kind], length) != 0 || name[length] != '-')
			continue;
		number = strtoull(name + length + 1, NULL, 16);
		file_name(same, (enum spool_kind)kind, number);
		if (number < least[kind] || number > LAST_FILE || strcmp(same, name) != 0 ||
		    fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		q->first = number < q->first ? number : q->first;
		q->last = number > q->last ? number : q->last;
		q->bytes += (uint64_t)st.st_size;
	}
}

/* The first file may be another one now, and there may be none. */
static void queue_take_first(struct spool_queue *q, uint64_t before)
{
	if (q->first != before)
		q->read_at = 0;
	if (q->first != UINT64_MAX)
		return;
	q->first = q->last + 1;
	if (q->write_fd >= 0)
		close(q->write_fd);
	q->write_fd = -1;
}

/* Finds the files of both queues, from the first on. Returns 0 or a negative errno. */
static int spool_take_files(struct spool *s)
{
	int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	uint64_t least[NR_SPOOL_KINDS];
	const struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++) {
		least[kind] = s->queues[kind].first;
		s->queues[kind].first = UINT64_MAX;
		s->queues[kind].bytes = s->queues[kind].held_bytes;
	}
	while ((e = readdir(d)))
		spool_take_file(s, e->d_name, least);
	closedir(d);
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++)
		queue_take_first(&s->queues[kind], least[kind]);
	return 0;
}

static bool queue_file_exists(const struct spool *s, enum spool_kind kind)
{
	char name[NAME_BYTES];

	file_name(name, kind, s->queues[kind].first);
	return !faccessat(s->folder, name, F_OK, 0) || errno != ENOENT;
}

/* The first file is gone: goes on with the next one. Returns false if that cannot be found. */
static bool queue_skip_gap(struct spool *s, enum spool_kind kind)
{
	s->queues[kind].damaged++;
	return !spool_take_files(s);
}

static uint64_t queue_disk_bytes(const struct spool_queue *q)
{
	return q->bytes - q->held_bytes;
}

/* Makes room for @bytes on the disk. Returns false if there cannot be. */
static bool spool_make_room(struct spool *s, uint64_t bytes)
{
	struct spool_queue *rows = &s->queues[SPOOL_ROWS], *samples = &s->queues[SPOOL_SAMPLES];

	if (bytes > s->most)
		return false;
	while (queue_disk_bytes(rows) + queue_disk_bytes(samples) + bytes > s->most) {
		bool rows_go =
			!queue_has_file(samples) || queue_disk_bytes(rows) > s->most * ROWS_SHARE;
		enum spool_kind kind = rows_go ? SPOOL_ROWS : SPOOL_SAMPLES;

		if (!queue_has_file(&s->queues[kind]))
			return false;
		if (queue_file_exists(s, kind))
			queue_remove_file(s, kind);
		else if (!queue_skip_gap(s, kind))
			return false;
	}
	return true;
}

static void queue_sync(struct spool_queue *q)
{
	if (q->is_dirty && q->write_fd >= 0)
		fdatasync(q->write_fd);
	q->is_dirty = false;
}

static int queue_begin_file(struct spool *s, enum spool_kind kind)
{
	struct spool_queue *q = &s->queues[kind];
	int fd = queue_open_file(s, kind, q->last + 1, O_WRONLY | O_CREAT | O_EXCL);

	if (fd < 0)
		return fd;
	queue_sync(q);
	fdatasync(s->folder); /* the name of the new file */
	if (q->write_fd >= 0)
		close(q->write_fd);
	q->last++;
	q->write_fd = fd;
	q->write_bytes = 0;
	return 0;
}

static bool write_whole(int fd, const char *bytes, size_t length, uint64_t at)
{
	ssize_t n;

	for (; length; bytes += n, length -= (size_t)n, at += (uint64_t)n) {
		n = pwrite(fd, bytes, length, (off_t)at);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Appends to the last file, which keeps its end if that fails. Returns 0 or a negative errno. */
static int queue_write(struct spool *s, enum spool_kind kind, const struct spool_batch *b)
{
	struct spool_queue *q = &s->queues[kind];
	struct header h = { .magic = MAGIC, .length = (uint32_t)b->length, .points = b->points };
	int err = 0;

	if (q->write_fd < 0 || q->write_bytes >= s->file_bytes)
		err = queue_begin_file(s, kind);
	if (err)
		return err;
	h.checksum = batch_checksum(&h, b->bytes);
	errno = EIO;
	if (!write_whole(q->write_fd, (const char *)&h, sizeof(h), q->write_bytes) ||
	    !write_whole(q->write_fd, b->bytes, b->length, q->write_bytes + sizeof(h))) {
		err = -errno;
		if (ftruncate(q->write_fd, (off_t)q->write_bytes)) {
			close(q->write_fd); /* the next batch begins another file */
			q->write_fd = -1;
		}
		return err;
	}
	q->write_bytes = stored_end(q->write_bytes, &h);
	q->bytes += sizeof(h) + b->length;
	q->is_dirty = true;
	return 0;
}

static int spool_write(struct spool *s, enum spool_kind kind, const struct spool_batch *b)
{
	if (s->folder < 0)
		return -ENOSPC;
	if (!spool_make_room(s, sizeof(struct header) + b->length))
		return -ENOSPC;
	s->disk_error = queue_write(s, kind, b);
	return s->disk_error;
}

/* Writes what is in memory, in its order, as far as the disk takes it. */
static void spool_write_held(struct spool *s, enum spool_kind kind)
{
	struct spool_queue *q = &s->queues[kind];

	while (s->folder >= 0 && q->held && !spool_write(s, kind, &q->held->batch))
		held_remove(q);
}

void spool_append(struct spool *s, enum spool_kind kind, const struct spool_batch *b)
{
	struct spool_queue *q = &s->queues[kind];

	if (b->length > SPOOL_BATCH_BYTES) {
		q->dropped += b->points;
		return;
	}
	spool_write_held(s, kind);
	if (q->held || spool_write(s, kind, b))
		held_append(q, b);
}

void spool_append_text(struct spool *s, enum spool_kind kind, const char *text, size_t length,
		       size_t points)
{
	struct buffer bytes = { 0 };

	batch_compress(&bytes, text, length);
	if (bytes.failed)
		s->queues[kind].dropped += points;
	else
		spool_append(s, kind,
			     &(struct spool_batch){ .bytes = bytes.text,
						    .length = bytes.used,
						    .points = (uint32_t)points });
	buffer_done(&bytes);
}

/* Finds the first batch of the first file that was not sent. Returns false if there is none. */
static bool queue_find(struct spool_queue *q, int fd, struct header *h)
{
	for (; header_read(fd, q->read_at, h); q->read_at = stored_end(q->read_at, h))
		if (!h->is_sent)
			return true;
	return false;
}

/* Returns 1, 0 if the batch is damaged, or -ENOMEM. */
static int batch_read(int fd, uint64_t at, const struct header *h, struct spool_batch *b)
{
	b->bytes = memory_malloc(h->length);
	b->length = h->length;
	b->points = h->points;
	b->at = at;
	if (!b->bytes)
		return -ENOMEM;
	if (pread(fd, b->bytes, b->length, (off_t)(at + sizeof(*h))) == (ssize_t)b->length &&
	    batch_checksum(h, b->bytes) == h->checksum)
		return 1;
	free(b->bytes);
	b->bytes = NULL;
	return 0;
}

/* Returns whether the file has bytes after the last whole batch: it is damaged there. */
static bool file_is_longer(int fd, uint64_t than)
{
	struct stat st;

	return !fstat(fd, &st) && (uint64_t)st.st_size > than;
}

static void queue_count_damage(struct spool_queue *q)
{
	q->damaged += q->damaged_file != q->first;
	q->damaged_file = q->first;
}

/* Returns 1, 0 if the rest of the file has no batch, or a negative errno to try it later. */
static int queue_read_file(struct spool *s, enum spool_kind kind, struct spool_batch *b)
{
	struct spool_queue *q = &s->queues[kind];
	int fd = queue_open_file(s, kind, q->first, O_RDONLY), found = 0;
	struct header h;
	bool is_found;

	if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
		return fd;
	if (fd < 0) {
		queue_count_damage(q);
		return 0;
	}
	b->file = q->first;
	while ((is_found = queue_find(q, fd, &h)) && !(found = batch_read(fd, q->read_at, &h, b))) {
		/* if its length is wrong, too, no header follows */
		q->dropped += h.points;
		q->read_at = stored_end(q->read_at, &h);
		queue_count_damage(q);
	}
	if (!is_found && file_is_longer(fd, q->read_at))
		queue_count_damage(q);
	close(fd);
	return found;
}

bool spool_read(struct spool *s, enum spool_kind kind, struct spool_batch *b)
{
	struct spool_queue *q = &s->queues[kind];
	int found;

	while (queue_has_file(q)) {
		if (!queue_file_exists(s, kind)) {
			if (!queue_skip_gap(s, kind))
				return false;
			continue;
		}
		found = queue_read_file(s, kind, b);
		if (found)
			return found > 0;
		if (q->first == q->last && q->write_fd >= 0 && q->read_at == q->write_bytes &&
		    q->write_bytes < s->file_bytes)
			break; /* all was sent, and more may follow */
		queue_remove_file(s, kind);
	}
	if (!q->held)
		return false;
	*b = q->held->batch;
	q->held_read = b->at;
	b->bytes = memory_malloc(b->length);
	if (b->bytes)
		memcpy(b->bytes, q->held->batch.bytes, b->length);
	return b->bytes;
}

static void queue_mark_sent(struct spool *s, enum spool_kind kind, const struct spool_batch *b)
{
	static const uint32_t is_sent = 1;
	struct spool_queue *q = &s->queues[kind];
	int fd;

	q->read_at = b->at + sizeof(struct header) + b->length;
	if (q->first == q->last && q->write_fd >= 0 && q->read_at == q->write_bytes &&
	    !ftruncate(q->write_fd, 0)) { /* all was sent: the file begins anew */
		q->bytes -= q->write_bytes;
		q->read_at = q->write_bytes = 0;
		return;
	}
	fd = queue_open_file(s, kind, q->first, O_WRONLY);
	if (fd < 0)
		return;
	write_whole(fd, (const char *)&is_sent, sizeof(is_sent),
		    b->at + offsetof(struct header, is_sent));
	close(fd);
}

void spool_remove(struct spool *s, enum spool_kind kind, const struct spool_batch *b)
{
	struct spool_queue *q = &s->queues[kind];

	if (b->file && b->file == q->first)
		queue_mark_sent(s, kind, b);
	else if (!b->file && q->held && q->held->batch.at == b->at)
		held_remove(q);
	else if (b->file || q->held_read != b->at) /* it went for lack of room */
		q->dropped -= b->points < q->dropped ? b->points : q->dropped;
	/* else it was written to the disk meanwhile, and is sent once more */
}

bool spool_is_empty(const struct spool *s, enum spool_kind kind)
{
	const struct spool_queue *q = &s->queues[kind];

	return !q->held && (!queue_has_file(q) || (q->first == q->last && q->write_fd >= 0 &&
						   q->read_at == q->write_bytes));
}

void spool_sync(struct spool *s)
{
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++) {
		spool_write_held(s, (enum spool_kind)kind);
		queue_sync(&s->queues[kind]);
	}
}

int spool_open(struct spool *s, const char *folder, uint64_t most)
{
	*s = (struct spool){ .folder = -1, .most = most };
	s->file_bytes = most / 16 < FILE_BYTES ? most / 16 : FILE_BYTES;
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++) {
		struct spool_queue *q = &s->queues[kind];

		*q = (struct spool_queue){ .first = 1, .write_fd = -1 };
		q->held_end = &q->held;
	}
	if (!folder)
		return 0;
	s->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->folder < 0)
		return -errno;
	if (flock(s->folder, LOCK_EX | LOCK_NB))
		return -errno;
	if (faccessat(s->folder, ".", W_OK, AT_EACCESS))
		return -errno;
	return spool_take_files(s);
}

void spool_done(struct spool *s)
{
	spool_sync(s);
	for (int kind = 0; kind < NR_SPOOL_KINDS; kind++) {
		struct spool_queue *q = &s->queues[kind];

		while (q->held)
			held_remove(q);
		if (q->write_fd >= 0)
			close(q->write_fd);
		q->write_fd = -1;
	}
	if (s->folder >= 0)
		close(s->folder);
	s->folder = -1;
}
