/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends what is in a spool over HTTP, one request at a time, oldest first, rows of ended jobs
 * before samples. reply.h says what an answer means: a batch that a server refuses as a whole is
 * halved until the bad line stands alone.
 */
#ifndef PUSH_SENDER_H
#define PUSH_SENDER_H

#include "base/buffer.h"
#include "push/reply.h"
#include "push/batch.h"
#include "push/points.h"
#include "push/spool.h"
#include "push/push_target.h"

#include <stdbool.h>
#include <stdint.h>

struct pollfd;

/* A range of lines of the text being sent. */
struct sender_part {
	size_t at, length, lines;
};

#define SENDER_PARTS 64
#define SENDER_ANSWER_BYTES 4096

struct sender {
	const struct target *target; /* not owned */
	struct spool *spool;         /* not owned */
	struct push_counts *counts;  /* not owned */
	uint64_t sample_ns;          /* least time that a sample takes while catching up; 0: none */
	void *multi, *easy;          /* owned; of libcurl */
	void *headers, *plain;       /* owned; lists of headers, with and without compression */
	enum dialect dialect;
	enum { SENDER_IDLE, SENDER_ASKS, SENDER_SENDS } state;
	enum spool_kind kind;
	struct spool_batch batch;               /* being sent; its bytes are owned */
	struct buffer text, body;               /* owned */
	struct sender_part parts[SENDER_PARTS]; /* not sent yet; the last is the next */
	size_t nr_parts;
	size_t most_lines;    /* of a request; falls when the server calls one too large */
	size_t refused_alone; /* lines, since something was accepted */
	char answer[SENDER_ANSWER_BYTES];
	size_t answered;
	char retry_after[64];
	bool has_version; /* the answer names a version of InfluxDB */
	uint64_t next_ns, wait_ns;
	uint64_t samples_next_ns; /* samples wait for their turn until then */
	uint64_t rows_next_ns; /* rows wait while their URL is wrong, which samples do not have */
	bool rows_misconfigured;
	uint64_t accepted_ns;
	bool said_why, said_lasting; /* the latter: that it is the configuration */
	bool said_dialect;
};

/* Returns 0 or a negative errno. sender_done() is needed in either case. */
int sender_init(struct sender *s, const struct target *t, struct spool *spool,
		struct push_counts *counts, uint64_t now_ns);
void sender_done(struct sender *s);
/*
 * Waits for one of @fds, an answer or @wait_ms, and goes on sending. Returns 0 or a negative errno.
 */
int sender_wait(struct sender *s, struct pollfd *fds, unsigned nr, int wait_ms);
/* Returns whether something waits to be sent, or for an answer. */
bool sender_is_busy(const struct sender *s);

#endif
