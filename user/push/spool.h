/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches that wait to be sent, in two queues of files, each first in, first out: rows of ended
 * jobs, and samples. A batch is stored with its length and checksum, its bytes never change, and
 * one that was acknowledged is marked in its place: after a crash a batch may be sent again, and
 * none is lost but what was not synchronized. What a disk refuses stays in memory, as far as there
 * is room.
 *
 * If there is no more room, the oldest samples go first. Rows go if they have more than three
 * quarters of the room, or no samples are left. What goes is counted.
 */
#ifndef PUSH_SPOOL_H
#define PUSH_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spool_kind { SPOOL_ROWS, SPOOL_SAMPLES, NR_SPOOL_KINDS };

#define SPOOL_BATCH_BYTES (4 << 20)  /* longest batch */
#define SPOOL_MEMORY_BYTES (4 << 20) /* in memory, of each queue */

struct spool_batch {
	char *bytes; /* owned */
	size_t length;
	uint32_t points;
	uint64_t file, at; /* its place, set by spool_read() */
};

struct spool_held; /* a batch in memory */

struct spool_queue {
	uint64_t first, last; /* numbers of the files; none if first > last */
	uint64_t read_at;     /* offset of the next batch in the first file */
	int write_fd;         /* the last file; -1 if a new one is needed */
	uint64_t write_bytes; /* of it */
	bool is_dirty;        /* has bytes that are not synchronized */
	uint64_t bytes;       /* in all files and in memory */
	uint64_t held_bytes;
	uint64_t held_number; /* of the last batch that went to memory */
	uint64_t
		held_read; /* of the last one that was read from there; 0 if it was dropped since */
	struct spool_held *held, **held_end;
	uint64_t dropped;      /* points */
	uint64_t damaged;      /* files of which a part was unreadable */
	uint64_t damaged_file; /* number of the last of these; 0: none */
};

struct spool {
	int folder; /* owned; -1: in memory only */
	uint64_t most, file_bytes;
	struct spool_queue queues[NR_SPOOL_KINDS];
	int disk_error; /* negative errno of the last write; 0 if it succeeded */
};

/*
 * Opens the spool in @folder, NULL for memory only, with room for @most bytes. Returns 0 or a
 * negative errno; -EWOULDBLOCK if another process has it. spool_done() is needed in either case.
 */
int spool_open(struct spool *s, const char *folder, uint64_t most);
/* Closes the spool, synchronized. */
void spool_done(struct spool *s);
/*
 * Appends a batch, which it copies. If there is no room at all, it is counted as dropped.
 */
void spool_append(struct spool *s, enum spool_kind kind, const struct spool_batch *b);
/* Appends a text of @points lines or rows, compressed; dropped as well if out of memory. */
void spool_append_text(struct spool *s, enum spool_kind kind, const char *text, size_t length,
		       size_t points);
/*
 * Reads the oldest batch of a queue into @b, whose bytes the caller frees. Returns false if there
 * is none.
 */
bool spool_read(struct spool *s, enum spool_kind kind, struct spool_batch *b);
/*
 * Removes @b, the last one that spool_read() gave, as sent. If it had to go meanwhile for lack of
 * room, it is no longer counted as dropped.
 */
void spool_remove(struct spool *s, enum spool_kind kind, const struct spool_batch *b);
/* Writes all that was appended to the disk. */
void spool_sync(struct spool *s);
bool spool_is_empty(const struct spool *s, enum spool_kind kind);

#endif
